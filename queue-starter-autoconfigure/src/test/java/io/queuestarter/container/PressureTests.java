package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.QueueListener;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * More records, larger ones, or larger gaps between settled ones than the bounds of a
 * queue allow. Intake slows down or the commit's metadata says less, but nothing stops,
 * nothing is lost, and nothing grows beyond its bound.
 */
@Tag("threads")
class PressureTests {

	private static final String DRAIN_NOTHING = "kafka-queue.defaults.shutdown.drain-timeout=0";

	@Test
	@Tag("faults")
	void P1_fastHandlersOnManyThreadsNeverLeaveThePartitionsPausedWithNothingToDo() {
		int rounds = Effort.of(3, 20);
		int records = Effort.of(20_000, 100_000);
		try (Trial trial = Trial.on("fast", 4)) {
			trial.work((record) -> {
				LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
				return true;
			});
			AtomicInteger pauses = new AtomicInteger();
			trial.tap(() -> (call) -> {
				Collection<?> partitions = call.name().equals("pause") ? call.argument(Collection.class) : null;
				if (partitions != null && !partitions.isEmpty()) {
					pauses.incrementAndGet();
				}
				return call.proceed();
			});
			// A poll brings more than may wait, so that it pauses its partitions.
			QueueApp app = trial.start("kafka-queue.defaults.dispatch.max-in-flight=1000",
					"kafka-queue.defaults.buffer.max-records=1000", "spring.kafka.consumer.max-poll-records=4000");
			Queue queue = Trial.queue(app);
			Stall stall = new Stall(queue);
			for (int round = 1; round <= rounds; round++) {
				trial.send(4, records);
				long expected = (long) round * records;
				QueueApp.eventually().atMost(Duration.ofSeconds(60L + records / 1000)).until(() -> {
					stall.look();
					return queue.outcomes().acknowledgedCount() == expected;
				});
			}
			trial.awaitCommitted((long) rounds * records);
			assertThat(trial.journal().started()).hasSize(rounds * records);
			assertThat(pauses).as("pauses").hasPositiveValue();
			Trial.awaitQuiet(app);
		}
	}

	@Test
	@Tag("faults")
	void P4_largeRecordsOfManyPartitionsFitIntoASmallHeap() throws Exception {
		int partitions = 60;
		int each = Effort.of(3, 40);
		String topic = Broker.newTopic("large", partitions);
		for (int i = 0; i < partitions * each; i++) {
			Broker.send(new ProducerRecord<>(topic, i % partitions, null, new byte[900_000]));
		}

		Process process = LargeRecords.start(topic, partitions * each);
		try {
			assertThat(process.waitFor(60L + each * 10L, TimeUnit.SECONDS)).as("ended").isTrue();
			assertThat(process.exitValue()).isZero();
		}
		finally {
			process.destroyForcibly();
		}
		assertThat(Broker.committedSum(topic, topic)).isEqualTo((long) partitions * each);
	}

	@Test
	@Tag("faults")
	void X9_aWindowFullOfHolesFitsTheMetadataAndRunsAgainOnlyWhatWasOpen() {
		int records = Effort.of(30_000, 100_000);
		int window = 10_000;
		try (Trial trial = Trial.on("holes", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() < window && record.offset() % 50 == 0) {
					hold.await();
				}
				else if (record.offset() % 2 == 1) {
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
				}
				return true;
			});
			AtomicInteger longest = new AtomicInteger();
			trial.tap(() -> (call) -> {
				Map<?, ?> offsets = call.name().startsWith("commit") ? call.argument(Map.class) : null;
				if (offsets != null) {
					offsets.values()
						.forEach((commit) -> longest.accumulateAndGet(((OffsetAndMetadata) commit).metadata().length(),
								Math::max));
				}
				return call.proceed();
			});
			trial.send(1, records);
			String[] settings = { DRAIN_NOTHING, "kafka-queue.defaults.dispatch.max-in-flight=201" };
			try (QueueApp first = trial.start(settings)) {
				QueueApp.eventually()
					.untilAsserted(() -> assertThat(settledAbove(trial).count()).isEqualTo(window - window / 50));
				assertThat(trial.committed(0)).isZero();
				assertThat(Trial.queue(first).partitions()).singleElement()
					.satisfies((view) -> assertThat(view.paused()).isTrue());
			}
			hold.release();

			QueueApp second = trial.start(settings);

			trial.awaitCommitted(records);
			assertThat(trial.journal().records()).isEqualTo(records);
			assertThat(runsOf(trial, 1).stream().filter((offset) -> offset < window))
				.containsExactlyElementsOf(LongStream.range(0, window / 50).map((hole) -> hole * 50).boxed().toList());
			assertThat(trial.journal().duplicates()).isZero();
			assertThat(longest).hasValueBetween(1, AckedSetCodec.MAX_LENGTH);
			Trial.awaitQuiet(second);
		}
	}

	@Test
	void X10_aLongRangeBehindAHeldRecordFitsTheMetadata() {
		try (Trial trial = Trial.on("range", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() == 0) {
					hold.await();
				}
				return true;
			});
			trial.send(1, 40_001);
			try (QueueApp first = trial.start(DRAIN_NOTHING, "kafka-queue.defaults.ledger.capacity=50000")) {
				QueueApp.eventually().until(() -> settledAbove(trial).count() == 40_000);
				assertThat(Trial.queue(first).inFlight()).isOne();
			}
			hold.release();

			trial.start();

			trial.awaitCommitted(40_001);
			assertThat(runsOf(trial, 1)).containsExactly(0L);
		}
	}

	@Test
	void X10_whatDoesNotFitTheMetadataIsCutOffAtTheFarEndAndRunsAgain() {
		int records = 40_000;
		try (Trial trial = Trial.on("cut", 1)) {
			trial.work((record) -> {
				if (record.offset() % 2 == 0) {
					throw new IllegalStateException("Comes again in the next life");
				}
				return true;
			});
			trial.send(1, records);
			try (QueueApp first = trial.start(DRAIN_NOTHING, "kafka-queue.defaults.ledger.capacity=50000",
					"kafka-queue.defaults.retry.local.initial-interval=10h",
					"kafka-queue.defaults.retry.local.max-interval=10h")) {
				QueueApp.eventually().until(() -> trial.journal().finished().size() == records / 2);
				QueueApp.eventually().until(() -> Trial.queue(first).retryWaiting() == records / 2);
				QueueApp.eventually().until(() -> settledAbove(trial).count() > 10_000);
				assertThat(Trial.queue(first).state()).isEqualTo(QueueState.RUNNING);
			}
			OffsetRanges kept = settledAbove(trial);
			trial.work((record) -> true);

			QueueApp second = trial.start("kafka-queue.defaults.ledger.capacity=50000");

			trial.awaitCommitted(records);
			assertThat(trial.journal().records()).isEqualTo(records);
			assertThat(kept.count()).isLessThan(records / 2);
			assertThat(runsOf(trial, 1)).hasSize(records - (int) kept.count()).noneMatch(kept::contains);
			Trial.awaitQuiet(second);
		}
	}

	@Test
	void X41_onePartitionCannotFillTheBufferThatAllShare() {
		int partitions = 5;
		try (Trial trial = Trial.on("shared", partitions)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(1, 5_000);
			QueueApp app = trial.start("kafka-queue.defaults.dispatch.max-in-flight=4",
					"kafka-queue.defaults.buffer.max-records=100");
			hold.awaitArrived(4);
			QueueApp.eventually().until(() -> Trial.queue(app).buffered() == 50);
			for (int i = 0; i < 40; i++) {
				Broker.send(new ProducerRecord<>(trial.topic(), 1 + i % 4, null, Broker.bytes("cold")));
			}

			QueueApp.eventually()
				.untilAsserted(() -> assertThat(Trial.queue(app).partitions()).hasSize(partitions)
					.filteredOn((view) -> view.partition().partition() > 0)
					.allSatisfy((view) -> assertThat(view.outstanding()).isEqualTo(10)));
			assertThat(Trial.queue(app).buffered()).isLessThanOrEqualTo(100);

			hold.release();
			trial.awaitCommitted(5_040);
			assertThat(trial.journal().started()).hasSize(5_040);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void X46_aPollLargerThanTheWindowIsTakenInParts() {
		try (Trial trial = Trial.on("window", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() == 0) {
					hold.await();
				}
				return true;
			});
			trial.send(1, 2_000);

			QueueApp app = trial.start("kafka-queue.defaults.ledger.capacity=100",
					"spring.kafka.consumer.max-poll-records=500");
			trial.awaitHandled(99);
			QueueApp.eventually()
				.untilAsserted(() -> assertThat(Trial.queue(app).partitions()).singleElement().satisfies((view) -> {
					assertThat(view.tracked()).isEqualTo(100);
					assertThat(view.paused()).isTrue();
				}));
			assertThat(Trial.queue(app).state()).isEqualTo(QueueState.RUNNING);
			hold.release();

			trial.awaitAll(2_000);
			assertThat(trial.journal().started()).hasSize(2_000);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void X61_sameKeysAndOffsetsOfTwoTopicsDoNotMeet() {
		String topic = Broker.newTopic("twins", 1);
		Broker.createTopic(topic + "-b", 1, Map.of());
		for (int i = 0; i < 20; i++) {
			Broker.send(topic, "A", "value");
			Broker.send(topic + "-b", "A", "value");
		}
		try (QueueApp app = QueueApp.of(Twins.class).with("topic", topic).start()) {
			Twins twins = app.bean(Twins.class);
			TopicPartition held = new TopicPartition(topic, 0);
			TopicPartition other = new TopicPartition(topic + "-b", 0);
			QueueApp.eventually().until(() -> twins.journal.watermark(other) == 20);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, other.topic(), 0) == 20);
			assertThat(Broker.committedOffset(topic, topic, 0)).isLessThanOrEqualTo(0);

			twins.hold.release();

			QueueApp.eventually().until(() -> twins.journal.watermark(held) == 20);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 20);
		}
	}

	private static OffsetRanges settledAbove(Trial trial) {
		return AckedSetCodec.decode(Math.max(0, trial.committed(0)), trial.metadata(0)).orElseThrow().settled();
	}

	private static List<Long> runsOf(Trial trial, int app) {
		return Journal.offsets(trial.journal().started().stream().filter((run) -> run.app() == app).toList());
	}

	static class Twins {

		final Journal journal = new Journal();

		final Hold hold = new Hold();

		@QueueListener(id = "twins", topics = { "${topic}", "${topic}-b" }, groupId = "${topic}", dlq = "none")
		void handle(ConsumerRecord<String, String> record) throws InterruptedException {
			if (!record.topic().endsWith("-b") && record.offset() == 0) {
				this.hold.await();
			}
			this.journal.settle(new TopicPartition(record.topic(), record.partition()), record.offset());
		}

	}

	/**
	 * Finds a queue whose partitions are paused while nothing is there to be done.
	 */
	private static final class Stall {

		/** Longer than any pause of a busy machine. */
		private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(5);

		private final Queue queue;

		private long sinceNanos = System.nanoTime();

		Stall(Queue queue) {
			this.queue = queue;
		}

		void look() {
			boolean stalled = this.queue.inFlight() == 0 && this.queue.buffered() == 0
					&& this.queue.partitions().stream().anyMatch(PartitionView::paused);
			if (!stalled) {
				this.sinceNanos = System.nanoTime();
			}
			assertThat(System.nanoTime() - this.sinceNanos).as("paused with nothing in flight").isLessThan(LIMIT_NANOS);
		}

	}

}
