package io.queuestarter.container;

import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Deliveries;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.ProcessTrial;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The process of an application is killed again and again while it works. Nothing is
 * lost, and only what was in flight or settled since the last commit runs again.
 */
@Tag("faults")
class ProcessKillTests {

	private static final int PARTITIONS = 4;

	@Test
	void nothingIsLostAndOnlyTheUncommittedRunsAgain(@TempDir Path folder) {
		SplittableRandom random = Seeds.random("nothingIsLostAndOnlyTheUncommittedRunsAgain");
		try (ProcessTrial trial = new ProcessTrial(Broker.bootstrap(), Broker.newTopic("killed", PARTITIONS),
				PARTITIONS, folder)) {
			trial.load(400);
			for (int kill = 0; kill < Effort.of(3, 20); kill++) {
				ProcessTrial.WorkerProcess worker = start(trial).awaitEnd();
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(2000)));
				trial.fault("kill " + kill);
				worker.jvm().kill();
			}
			int last = start(trial).awaitEnd().number();

			Deliveries deliveries = trial.awaitAll();

			assertThat(deliveries.violations()).isEmpty();
			checkMeter(deliveries, last);
			for (ProcessTrial.Fault kill : trial.faults()) {
				List<Deliveries.Takeover> takeovers = trial.takeovers(deliveries, kill);
				assertThat(takeovers).as("assignments after %s", kill.what()).hasSize(PARTITIONS);
				assertThat(takeovers).as(kill.what())
					.allSatisfy((takeover) -> assertThat(takeover.beyond()).as(takeover.toString()).isEmpty());
			}
		}
	}

	/** The broker may have a commit whose answer died with its process. */
	private static void checkMeter(Deliveries deliveries, int process) {
		long told = 0;
		long bound = 0;
		for (Deliveries.Takeover takeover : deliveries.takeovers()) {
			if (takeover.process() == process) {
				told += takeover.toldRedelivered();
				bound += takeover.bound();
			}
		}
		assertThat(deliveries.counted(process)).as("redelivered, by the meter").isBetween(told, bound);
	}

	private static ProcessTrial.WorkerProcess start(ProcessTrial trial) {
		return trial.start("spring.kafka.consumer.properties.session.timeout.ms=1500",
				"spring.kafka.consumer.heartbeat-interval=300ms");
	}

}
