package io.queuestarter.container;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Deliveries;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.ProcessTrial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes are stopped and started again in turn while records keep coming. No
 * record is lost, and none runs twice.
 */
@Tag("faults")
class RollingRestartTests {

	private static final int PARTITIONS = 4;

	@ParameterizedTest
	@MethodSource
	void everyRecordRunsOnce(boolean fixed, String protocol, @TempDir Path folder) {
		try (ProcessTrial trial = new ProcessTrial(Broker.bootstrap(), Broker.newTopic("rolling", PARTITIONS),
				PARTITIONS, folder)) {
			trial.load(200);
			List<ProcessTrial.WorkerProcess> workers = new ArrayList<>();
			workers.add(start(trial, fixed, protocol, 0));
			workers.add(start(trial, fixed, protocol, 1));
			for (ProcessTrial.WorkerProcess worker : workers) {
				trial.awaitOwned(worker, PARTITIONS / 2);
			}
			for (int restart = 0; restart < Effort.of(2, 6); restart++) {
				int which = restart % 2;
				trial.fault("stop of worker " + which);
				workers.get(which).jvm().terminate();
				workers.get(which).jvm().awaitEnd();
				workers.set(which, start(trial, fixed, protocol, which));
				trial.awaitOwned(workers.get(which), PARTITIONS / 2);
			}

			Deliveries deliveries = trial.awaitAll();

			assertThat(deliveries.violations()).isEmpty();
			assertThat(deliveries.stale()).isEmpty();
			assertThat(deliveries.takeovers())
				.allSatisfy((takeover) -> assertThat(takeover.redelivered()).as(takeover.toString()).isEmpty());
		}
	}

	static Stream<Object[]> everyRecordRunsOnce() {
		Object[][] all = { { false, "classic" }, { true, "consumer" }, { true, "classic" }, { false, "consumer" } };
		return Stream.of(all).limit(Effort.of(2, 4));
	}

	private static ProcessTrial.WorkerProcess start(ProcessTrial trial, boolean fixed, String protocol, int which) {
		String properties = "spring.kafka.consumer.properties.";
		List<String> settings = new ArrayList<>();
		settings.add(properties + "group.protocol=" + protocol);
		if (fixed) {
			settings.add(properties + "group.instance.id=worker-" + which);
		}
		return trial.start(settings.toArray(new String[0]));
	}

}
