package io.queuestarter.container;

import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.queuestarter.testkit.BrokerProcess;
import io.queuestarter.testkit.Deliveries;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.ProcessTrial;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The broker is killed under load and comes back. The queue goes on by itself, nothing is
 * lost, and only what was uncommitted may run again.
 */
@Tag("faults")
class BrokerRestartTests {

	private static final int PARTITIONS = 4;

	@Test
	void aQueueOutlivesItsBroker(@TempDir Path folder) {
		SplittableRandom random = Seeds.random("aQueueOutlivesItsBroker");
		try (BrokerProcess broker = BrokerProcess.start(folder)) {
			broker.createTopic("outlived", PARTITIONS);
			try (ProcessTrial trial = new ProcessTrial(broker.bootstrap(), "outlived", PARTITIONS, folder)) {
				QueueApp app = trial.startWithin(Object.class);
				trial.load(400);
				trial.awaitEnd();
				for (int kill = 0; kill < Effort.of(1, 5); kill++) {
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500 + random.nextInt(2000)));
					trial.fault("broker kill " + kill);
					broker.kill();
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(2000)));
					broker.restart();
					trial.awaitCommit();
				}

				Deliveries deliveries = trial.awaitAll();

				assertThat(app.queue("worker").state()).isEqualTo(QueueState.RUNNING);
				assertThat(deliveries.violations()).isEmpty();
				assertThat(deliveries.takeovers())
					.allSatisfy((takeover) -> assertThat(takeover.beyond()).as(takeover.toString()).isEmpty());
			}
		}
	}

}
