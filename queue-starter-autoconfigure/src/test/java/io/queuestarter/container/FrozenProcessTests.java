package io.queuestarter.container;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Deliveries;
import io.queuestarter.testkit.DiskJournal;
import io.queuestarter.testkit.ProcessTrial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process is frozen until its group has moved on, and goes on as if nothing had
 * happened. It commits nothing of what it no longer owns, and joins again.
 */
@Tag("faults")
class FrozenProcessTests {

	private static final int PARTITIONS = 4;

	@ParameterizedTest
	@ValueSource(strings = { "classic", "consumer" })
	void aRevivedProcessCommitsNothingOfWhatItLostAndWorksOn(String protocol, @TempDir Path folder) {
		String topic = Broker.newTopic("frozen", PARTITIONS);
		shortenSession(topic);
		try (ProcessTrial trial = new ProcessTrial(Broker.bootstrap(), topic, PARTITIONS, folder)) {
			trial.load(300);
			ProcessTrial.WorkerProcess frozen = start(trial, protocol);
			ProcessTrial.WorkerProcess other = start(trial, protocol);
			frozen.awaitEnd();
			other.awaitEnd();
			trial.awaitOwned(frozen, PARTITIONS / 2);
			trial.awaitOwned(other, PARTITIONS / 2);
			trial.fault("freeze");
			frozen.jvm().freeze();
			trial.awaitOwned(other, PARTITIONS);
			other.awaitNext(DiskJournal.Event.COMMITTED, 2 * PARTITIONS);

			ProcessTrial.Fault thaw = trial.fault("thaw");
			frozen.jvm().thaw();

			trial.awaitOwned(frozen, PARTITIONS / 2);
			trial.awaitOwned(other, PARTITIONS / 2);
			frozen.awaitEnd();
			Deliveries deliveries = trial.awaitAll();
			assertThat(deliveries.violations()).isEmpty();
			assertThat(deliveries.takeovers())
				.allSatisfy((takeover) -> assertThat(takeover.beyond()).as(takeover.toString()).isEmpty());
			// Workers hold until the consumer knows; one may have been about to start.
			assertThat(deliveries.stale()).as("started of what another process had been assigned")
				.filteredOn((start) -> start.micros() < thaw.micros() + Standstill.HOLD_NANOS / 1000)
				.hasSizeLessThanOrEqualTo(ProcessTrial.MAX_IN_FLIGHT);
		}
	}

	private static ProcessTrial.WorkerProcess start(ProcessTrial trial, String protocol) {
		String properties = "spring.kafka.consumer.properties.";
		if (protocol.equals("consumer")) {
			return trial.start(properties + "group.protocol=consumer");
		}
		return trial.start(properties + "session.timeout.ms=3000", "spring.kafka.consumer.heartbeat-interval=300ms");
	}

	private static void shortenSession(String group) {
		ConfigResource resource = new ConfigResource(ConfigResource.Type.GROUP, group);
		AlterConfigOp operation = new AlterConfigOp(new ConfigEntry("consumer.session.timeout.ms", "3000"),
				AlterConfigOp.OpType.SET);
		Broker.await(Broker.admin().incrementalAlterConfigs(Map.of(resource, List.of(operation))).all());
	}

}
