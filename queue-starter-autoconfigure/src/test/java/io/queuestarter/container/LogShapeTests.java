package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.LongStream;

import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsResult;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Logs with holes, open transactions, and groups whose offset an administrator has moved:
 * the watermark follows what there is to handle, nothing is skipped that was not settled,
 * and what was settled runs again only if the administrator wants it to.
 */
@Tag("threads")
class LogShapeTests {

	private static final String READ_COMMITTED = "spring.kafka.consumer.isolation-level=read_committed";

	private static final String DRAIN_NOTHING = "kafka-queue.defaults.shutdown.drain-timeout=0";

	@Test
	void X1_aHeldRecordAmongMarkersKeepsTheWatermarkAndItsReleasePassesTheLastMarker() {
		try (Trial trial = Trial.on("marked", 1); Transactions transactions = new Transactions(trial, 60_000)) {
			for (int i = 0; i < 20; i++) {
				transactions.begin().send(1).commit();
			}
			transactions.begin().send(30).abort();
			Hold hold = holdAt(trial, 0);

			QueueApp app = trial.start(READ_COMMITTED);
			trial.awaitHandled(19);
			awaitFrom(trial, 0);
			hold.release();

			trial.awaitCommitted(20 * 2 + 31);
			Trial.awaitQuiet(app);
			assertNoLag(app);
			assertThat(trial.journal().started()).hasSize(20);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void X1_aHangingTransactionHoldsTheQueueBackUntilItIsAbortedOrTimesOut(boolean abort) {
		try (Trial trial = Trial.on("hanging", 1);
				Transactions transactions = new Transactions(trial, abort ? 60_000 : 1_000)) {
			trial.send(1, 10);
			QueueApp app = trial.start(READ_COMMITTED, "kafka-queue.defaults.ledger.capacity=8");
			trial.awaitAll(10);
			transactions.begin().send(5);
			trial.send(1, 10);
			transactions.forget(25);
			if (abort) {
				Awaitility.await()
					.during(Duration.ofMillis(500))
					.atMost(Duration.ofSeconds(5))
					.untilAsserted(() -> assertThat(trial.journal().started()).hasSize(10));
				assertThat(Trial.queue(app).partitions())
					.allSatisfy((view) -> assertThat(view.paused()).as("paused").isFalse());
				transactions.abort();
			}

			trial.awaitHandled(20);
			trial.awaitCommitted(26);
			assertThat(trial.journal().started()).hasSize(20);
			Trial.awaitQuiet(app);
			trial.send(1, 10);
			trial.awaitCommitted(36);
			assertNoLag(app);
		}
	}

	@Test
	void X2_holesOfCompactionCountAsDone() {
		try (Trial trial = Trial.on("compacted", 1)) {
			Broker.await(Broker.admin()
				.incrementalAlterConfigs(Broker.topicConfig(trial.topic(),
						Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT,
								TopicConfig.SEGMENT_MS_CONFIG, "1", TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG,
								"0.01")))
				.all());
			for (String key : List.of("a", "b", "c", "c", "c", "c", "d", "d", "d", "d", "e")) {
				Broker.send(trial.topic(), key, "value");
			}
			QueueApp.eventually()
				.untilAsserted(() -> assertThat(Broker.records(trial.topic())).extracting(ConsumerRecord::offset)
					.containsExactly(0L, 1L, 5L, 9L, 10L));
			List.of(2L, 3L, 4L, 6L, 7L, 8L).forEach((hole) -> trial.journal().settle(trial.partition(0), hole));
			Hold hold = holdAt(trial, 5);

			try (QueueApp first = trial.start(DRAIN_NOTHING)) {
				trial.awaitHandled(4);
				QueueApp.eventually().until(() -> !trial.metadata(0).isEmpty());
				awaitFrom(trial, 5);
				assertThat(Trial.queue(first).inFlight()).isOne();
			}
			assertThat(trial.committed(0)).isEqualTo(5);
			hold.release();
			trial.start();

			trial.awaitHandled(5);
			trial.awaitCommitted(11);
			assertThat(runsOf(trial, 1)).containsExactly(5L);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void X4_aGroupSetBackToTheBeginningRunsEverythingAgain(boolean keepMetadata) {
		try (Trial trial = Trial.on("back", 1)) {
			trial.send(1, 20);
			Hold hold = holdAt(trial, 5);
			try (QueueApp first = trial.start(DRAIN_NOTHING)) {
				trial.awaitHandled(19);
				awaitFrom(trial, 5);
				QueueApp.eventually().until(() -> !trial.metadata(0).isEmpty());
				assertThat(Trial.queue(first).inFlight()).isOne();
			}
			String metadata = trial.metadata(0);
			assertThat(metadata).startsWith("qs2");
			hold.release();
			trial.auditor().forget(trial.partition(0));

			Broker.await(setGroup(trial, 0, keepMetadata ? metadata : "").all());
			trial.start();

			trial.awaitCommitted(20);
			assertThat(runsOf(trial, 1)).containsExactlyElementsOf(offsets(0, 20));
		}
	}

	@Test
	void X4_aGroupSetForwardSkipsWhatTheAdministratorSkipped() {
		try (Trial trial = Trial.on("forward", 1)) {
			trial.send(1, 20);
			for (long offset = 0; offset < 12; offset++) {
				trial.journal().settle(trial.partition(0), offset);
			}
			Broker.await(setGroup(trial, 12, "").all());

			QueueApp app = trial.start();

			trial.awaitCommitted(20);
			assertThat(runsOf(trial, 0)).containsExactlyElementsOf(offsets(12, 20));
			Trial.awaitQuiet(app);
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 20, 1000 })
	void X4_anOffsetBehindTheEndOfTheLogIsResetToItsBeginning(long offset) {
		try (Trial trial = Trial.on("behind", 1)) {
			trial.send(1, 15);
			Broker.await(setGroup(trial, offset, "").all());

			QueueApp app = trial.start();

			trial.awaitHandled(15);
			trial.awaitCommitted(15);
			assertThat(runsOf(trial, 0)).containsExactlyElementsOf(offsets(0, 15));
			trial.send(1, 15);
			trial.awaitCommitted(30);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void X4_theBrokerRefusesToMoveALiveGroupWhichGoesOn() {
		try (Trial trial = Trial.on("live", 1)) {
			trial.send(1, 20);
			QueueApp app = trial.start();
			trial.awaitAll(20);

			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> setGroup(trial, 0, "").all().get())
				.withCauseInstanceOf(UnknownMemberIdException.class);
			trial.send(1, 20);

			trial.awaitAll(40);
			assertThat(trial.journal().started()).hasSize(40);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void X7_recordsPolledAndNotStartedAreNotCommittedWhenThePartitionIsGivenUp() {
		try (Trial trial = Trial.on("polled", 1)) {
			trial.send(1, 10);
			Hold hold = holdAt(trial, 0);
			try (QueueApp first = trial.start(DRAIN_NOTHING, "kafka-queue.defaults.dispatch.max-in-flight=1")) {
				hold.awaitArrived(1);
				QueueApp.eventually().until(() -> Trial.queue(first).buffered() == 9);
			}
			assertThat(trial.committed(0)).isLessThanOrEqualTo(0);
			hold.release();

			trial.start();

			trial.awaitAll(10);
			assertThat(runsOf(trial, 1)).containsExactlyElementsOf(offsets(0, 10));
		}
	}

	private static Hold holdAt(Trial trial, long offset) {
		Hold hold = new Hold();
		trial.work((record) -> {
			if (record.offset() == offset) {
				hold.await();
			}
			return true;
		});
		return hold;
	}

	private static void awaitFrom(Trial trial, long watermark) {
		QueueApp.eventually().until(() -> trial.committed(0) == watermark);
		Awaitility.await()
			.during(Duration.ofMillis(300))
			.atMost(Duration.ofSeconds(5))
			.untilAsserted(() -> assertThat(trial.committed(0)).isEqualTo(watermark));
	}

	private static void assertNoLag(QueueApp app) {
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(Trial.queue(app).partitions()).singleElement()
				.satisfies((view) -> assertThat(view.lag()).isZero()));
	}

	private static AlterConsumerGroupOffsetsResult setGroup(Trial trial, long offset, String metadata) {
		return Broker.admin()
			.alterConsumerGroupOffsets(trial.topic(),
					Map.of(trial.partition(0), new OffsetAndMetadata(offset, metadata)));
	}

	private static List<Long> runsOf(Trial trial, int app) {
		return Journal.offsets(trial.journal().started().stream().filter((run) -> run.app() == app).toList());
	}

	private static List<Long> offsets(long from, long to) {
		return LongStream.range(from, to).boxed().toList();
	}

	/**
	 * A producer of transactions that tells the journal which offsets are no record to
	 * handle.
	 */
	private static final class Transactions implements AutoCloseable {

		private final Trial trial;

		private final KafkaProducer<String, String> producer;

		private final List<Long> sent = new ArrayList<>();

		Transactions(Trial trial, int timeoutMillis) {
			this.trial = trial;
			this.producer = new KafkaProducer<>(
					Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap(),
							ProducerConfig.TRANSACTIONAL_ID_CONFIG, trial.topic(),
							ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, timeoutMillis),
					new StringSerializer(), new StringSerializer());
			this.producer.initTransactions();
		}

		Transactions begin() {
			this.sent.clear();
			this.producer.beginTransaction();
			return this;
		}

		Transactions send(int records) {
			for (int i = 0; i < records; i++) {
				this.sent
					.add(Broker.await(this.producer.send(new ProducerRecord<>(this.trial.topic(), "value"))).offset());
			}
			return this;
		}

		void commit() {
			settle(Broker.end(this.trial.partition(0)));
			this.producer.commitTransaction();
		}

		void abort() {
			forget(Broker.end(this.trial.partition(0)));
			this.producer.abortTransaction();
		}

		/** Tells the journal that the transaction comes to nothing. */
		void forget(long marker) {
			this.sent.forEach(this::settle);
			settle(marker);
		}

		private void settle(long offset) {
			this.trial.journal().settle(this.trial.partition(0), offset);
		}

		@Override
		public void close() {
			this.producer.close(Duration.ZERO);
		}

	}

}
