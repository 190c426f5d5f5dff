package io.queuestarter.container;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import org.apache.kafka.clients.admin.RecordsToDelete;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Retention deletes records that the group has not fetched yet. All that is left is
 * handled, and what is gone is counted and told, once.
 */
@Tag("threads")
@ExtendWith(OutputCaptureExtension.class)
class RetentionTests {

	private static final String CLASSIC = "spring.kafka.consumer.properties.group.protocol=classic";

	private static final String CONSUMER = "spring.kafka.consumer.properties.group.protocol=consumer";

	@ParameterizedTest
	@ValueSource(strings = { CLASSIC, CONSUMER })
	void B2_retentionOvertakesTheGroupWithWorkInFlight(String protocol, CapturedOutput output) {
		try (Trial trial = Trial.on("overtaken.live", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(1, 10_000);
			QueueApp app = trial.start(protocol, "kafka-queue.defaults.ledger.capacity=50",
					"spring.kafka.consumer.max-poll-records=10",
					"spring.kafka.consumer.properties.max.partition.fetch.bytes=500",
					"spring.kafka.consumer.properties.fetch.max.bytes=500");
			hold.awaitArrived(50);
			deleteBelow(trial, 4_000);
			lose(trial, 50, 4_000);

			hold.release();

			QueueApp.eventually().until(() -> trial.journal().isSettled(trial.partition(0), 9_999));
			long fetched = trial.journal().finished().stream().filter((run) -> run.offset() < 4_000).count();
			// At least what runs; beside it what the client holds, a batch or two.
			assertThat(fetched).isBetween(50L, 3_900L);
			trial.awaitCommitted(10_000);
			assertThat(trial.journal().started()).hasSize((int) (6_000 + fetched));
			assertThat(Trial.queue(app).intakeCounts().lostToRetention()).isEqualTo(4_000 - fetched);
			assertThat(warnings(output)).singleElement()
				.satisfies((line) -> assertThat(line).contains("'" + trial.partition(0) + "'",
						Long.toString(4_000 - fetched), "offsets " + fetched + " to 3999"));
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void B2_retentionOvertakesAStoppedGroup(CapturedOutput output) {
		try (Trial trial = Trial.on("overtaken", 2)) {
			trial.send(2, 20);
			try (QueueApp first = trial.start()) {
				trial.awaitAll(20);
				assertThat(Trial.queue(first).intakeCounts().lostToRetention()).isZero();
			}
			trial.send(2, 200);
			deleteBelow(trial, 60);
			lose(trial, 10, 60);

			QueueApp app = trial.start();

			trial.awaitCommitted(220);
			assertThat(trial.journal().records()).isEqualTo(220 - 50);
			assertThat(Trial.queue(app).intakeCounts().lostToRetention()).isEqualTo(50);
			assertThat(warnings(output)).hasSize(1);
		}
	}

	@Test
	void B2_recordsSettledAboveTheWatermarkAreNotLostWhenRetentionDeletesThem() {
		try (Trial trial = Trial.on("overtaken-settled", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() == 0) {
					hold.await();
				}
				return true;
			});
			trial.send(1, 20);
			try (QueueApp first = trial.start("kafka-queue.defaults.shutdown.drain-timeout=0")) {
				trial.awaitHandled(19);
				QueueApp.eventually().until(() -> !trial.metadata(0).isEmpty());
				assertThat(Trial.queue(first).intakeCounts().lostToRetention()).isZero();
			}
			hold.release();
			trial.send(1, 20);
			deleteBelow(trial, 30);
			lose(trial, 0, 1);
			lose(trial, 20, 30);

			QueueApp app = trial.start();

			trial.awaitCommitted(40);
			assertThat(Trial.queue(app).intakeCounts().lostToRetention()).as("record 0, and 20 to 29").isEqualTo(11);
		}
	}

	@Test
	void B2_aLogOfWhichNothingIsLeftIsNotWaitedFor() {
		try (Trial trial = Trial.on("overtaken-empty", 1)) {
			trial.send(1, 20);
			try (QueueApp first = trial.start()) {
				trial.awaitAll(20);
				assertThat(Trial.queue(first).intakeCounts().lostToRetention()).isZero();
			}
			trial.send(1, 20);
			deleteBelow(trial, 40);
			lose(trial, 20, 40);

			QueueApp app = trial.start();

			trial.awaitCommitted(40);
			assertThat(Trial.queue(app).intakeCounts().lostToRetention()).isEqualTo(20);
			trial.send(1, 5);
			trial.awaitCommitted(45);
			assertThat(Trial.queue(app).intakeCounts().lostToRetention()).isEqualTo(20);
		}
	}

	@Test
	void B2_resetToLatestIsWarnedAboutAtTheStart(CapturedOutput output) {
		try (Trial trial = Trial.on("latest", 1)) {
			trial.start("spring.kafka.consumer.auto-offset-reset=latest");

			assertThat(output.getAll()).contains("Queue 'trial' has auto.offset.reset=latest");
		}
	}

	private static void deleteBelow(Trial trial, long offset) {
		Broker.await(
				Broker.admin().deleteRecords(Map.of(trial.partition(0), RecordsToDelete.beforeOffset(offset))).all());
	}

	/** Tells the journal of offsets that nobody can handle any more. */
	private static void lose(Trial trial, long from, long to) {
		LongStream.range(from, to).forEach((offset) -> trial.journal().settle(trial.partition(0), offset));
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains("lost to retention")).toList();
	}

}
