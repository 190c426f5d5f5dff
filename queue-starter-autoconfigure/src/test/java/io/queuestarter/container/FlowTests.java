package io.queuestarter.container;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.queuestarter.QueueListener;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records come faster than they are handled, or one of them is slow. Bounds pause the
 * partition they concern and no other, nothing blocks the poll, and whatever was paused
 * goes on when there is room.
 */
@Tag("threads")
class FlowTests {

	@Test
	void aFullWindowBehindAHeldRecordPausesOnlyItsPartition() {
		try (Trial trial = Trial.on("window", 2)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.partition() == 0 && record.offset() == 0) {
					hold.await();
				}
				return true;
			});
			trial.send(2, 400);

			QueueApp app = trial.start("kafka-queue.defaults.ledger.capacity=10");

			QueueApp.eventually().until(() -> trial.journal().watermark(trial.partition(1)) == 200);
			QueueApp.eventually()
				.untilAsserted(() -> assertThat(Trial.queue(app).partitions())
					.filteredOn((view) -> view.partition().partition() == 0)
					.singleElement()
					.satisfies((view) -> {
						assertThat(view.paused()).isTrue();
						assertThat(view.tracked()).isEqualTo(10);
						assertThat(view.settled()).isEqualTo(9);
					}));
			assertThat(trial.committed(0)).isLessThanOrEqualTo(0);
			hold.release();
			trial.awaitAll(400);
			assertThat(trial.journal().started()).hasSize(400);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void aHotPartitionDoesNotStarveAColdOne() {
		try (Trial trial = Trial.on("cold", 2)) {
			trial.work((record) -> {
				LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(300));
				return true;
			});
			int backlog = 15_000;
			trial.send(1, backlog);
			QueueApp app = trial.start("kafka-queue.defaults.dispatch.max-in-flight=4");
			QueueApp.eventually().until(() -> trial.journal().finished().size() >= 500);
			int before = trial.journal().finished().size();
			for (int i = 0; i < 20; i++) {
				Broker.send(new ProducerRecord<>(trial.topic(), 1, null, Broker.bytes("cold")));
			}
			int sent = trial.journal().finished().size();
			QueueApp.eventually().until(() -> trial.journal().watermark(trial.partition(1)) == 20);

			List<Journal.Run> runs = trial.journal().finished();
			int lastCold = 0;
			for (int i = before; i < runs.size(); i++) {
				lastCold = (runs.get(i).partition().partition() == 1) ? i : lastCold;
			}
			assertThat(lastCold - sent).as("hot records that overtook the cold ones").isLessThan(3000);
			assertThat(runs.size()).as("the backlog was still there").isLessThan(backlog);
			trial.awaitAll(backlog + 20);
			Trial.awaitQuiet(app);
		}
	}

	@ParameterizedTest
	@CsvSource({ "1, 1", "7, 3", "100, 1000" })
	void pollsLargerThanWindowAndBufferAreAdmittedInParts(int window, int records) {
		try (Trial trial = Trial.on("parts", 2)) {
			trial.send(2, 600);

			QueueApp app = trial.start("kafka-queue.defaults.ledger.capacity=" + window,
					"kafka-queue.defaults.buffer.max-records=" + records,
					"kafka-queue.defaults.dispatch.max-in-flight=3");

			trial.awaitAll(600);
			assertThat(trial.journal().started()).hasSize(600);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void longHandlersDoNotKeepTheConsumerFromPolling() {
		try (Trial trial = Trial.on("long", 2)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(2, 40);
			QueueApp app = trial.start("spring.kafka.consumer.properties.max.poll.interval.ms=1000",
					"kafka-queue.defaults.shutdown.drain-timeout=500ms", "kafka-queue.defaults.ledger.capacity=5");
			hold.awaitArrived(10);

			Awaitility.await()
				.during(Duration.ofMillis(2500))
				.atMost(Duration.ofSeconds(10))
				.untilAsserted(() -> assertThat(trial.auditor().revocations()).isZero());

			hold.release();
			trial.awaitAll(40);
			assertThat(trial.journal().started()).hasSize(40);
			assertThat(trial.auditor().assignments()).isOne();
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void anOperatorPausesAndResumesTheQueue() {
		try (Trial trial = Trial.on("operator", 2)) {
			QueueApp app = trial.start("kafka-queue.defaults.ledger.capacity=5");
			trial.send(2, 20);
			trial.awaitAll(20);
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(2, 40);
			hold.awaitArrived(10);

			Trial.container(app).pause();
			QueueApp.eventually().until(() -> Trial.container(app).isContainerPaused());
			hold.release();
			// What was polled before still runs; nothing is fetched any more.
			QueueApp.eventually().until(() -> Trial.queue(app).inFlight() == 0 && Trial.queue(app).buffered() == 0);
			int before = trial.journal().started().size();
			trial.send(2, 40);
			Awaitility.await()
				.during(Duration.ofMillis(500))
				.atMost(Duration.ofSeconds(5))
				.untilAsserted(() -> assertThat(trial.journal().finished().size()).isLessThanOrEqualTo(60));
			assertThat(before).isLessThanOrEqualTo(60);
			trial.awaitCommitted(trial.journal().finished().size());

			Trial.container(app).resume();
			trial.awaitAll(100);
			assertThat(trial.journal().started()).hasSize(100);
		}
	}

	@Test
	void twoConsumersOfOneQueueShareItsPartitionsAndWorkers() {
		try (Trial trial = Trial.on("pair", 4)) {
			QueueApp app = trial.start("concurrency=2", "kafka-queue.defaults.ledger.capacity=20",
					"kafka-queue.defaults.dispatch.max-in-flight=3");
			Trial.awaitPartitions(app, 4);
			QueueApp.eventually().until(() -> trial.auditor().assignments() >= 2);
			trial.send(4, 2000);

			trial.awaitAll(2000);
			assertThat(trial.journal().duplicates()).isZero();
			Trial.awaitQuiet(app);
			Trial.container(app).stop();
			assertThat(Trial.queue(app).state()).isEqualTo(QueueState.STOPPED);
			trial.send(4, 40);
			Trial.container(app).start();
			trial.awaitAll(2040);
			assertThat(trial.journal().started()).hasSize(2040);
		}
	}

	@Test
	void anEmptyTopicWithoutCommittedOffsetIsReadFromItsBeginning() {
		try (Trial trial = Trial.on("empty", 2)) {
			QueueApp app = trial.start();
			Trial.awaitPartitions(app, 2);
			Trial.container(app).stop();
			assertThat(trial.committed(0)).isEqualTo(-1);
			trial.send(2, 10);

			Trial.container(app).start();

			trial.awaitAll(10);
			assertThat(trial.journal().started()).hasSize(10);
		}
	}

	@Test
	void aTopicCreatedLaterJoinsByPattern() {
		String name = Broker.newTopic("pattern", 1);
		Broker.createTopic(name + "-a", 1, Map.of());
		Broker.sendNumbers(name + "-a", 1, 5);
		try (QueueApp app = QueueApp.of(PatternHandler.class)
			.with("pattern", name + "-[a-z]")
			.with("spring.kafka.consumer.properties.metadata.max.age.ms", "300")
			.start()) {
			Journal handled = app.bean(PatternHandler.class).journal;
			QueueApp.eventually().until(() -> handled.isSettled(partition(name + "-a"), 4));

			Broker.createTopic(name + "-b", 1, Map.of());
			Broker.sendNumbers(name + "-b", 1, 5);

			QueueApp.eventually().until(() -> handled.watermark(partition(name + "-b")) == 5);
			QueueApp.eventually().until(() -> Broker.committedOffset("by-pattern", name + "-b", 0) == 5);
		}
	}

	private static TopicPartition partition(String topic) {
		return new TopicPartition(topic, 0);
	}

	static class PatternHandler {

		final Journal journal = new Journal();

		@QueueListener(id = "pattern", topicPattern = "${pattern}", groupId = "by-pattern", dlq = "none")
		void handle(ConsumerRecord<String, String> record) {
			this.journal.settle(partition(record.topic()), record.offset());
		}

	}

}
