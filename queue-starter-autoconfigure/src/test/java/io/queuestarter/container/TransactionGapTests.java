package io.queuestarter.container;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records are written in transactions, so markers lie between and behind them, and some
 * were aborted. The queue reads committed records only, and their handlers end in another
 * order. Whatever lies between must neither hold the watermark nor pause the partition,
 * and a trailing marker must not show as lag.
 */
@Tag("threads")
class TransactionGapTests {

	private static final String READ_COMMITTED = "spring.kafka.consumer.isolation-level=read_committed";

	@Test
	void L1_recordsThatEndOutOfOrderAroundMarkersAreCommittedToTheEnd() {
		try (Trial trial = Trial.on("markers", 1)) {
			List<Long> offsets = sendInTransactions(trial, 1, 4, false);
			assertThat(offsets).containsExactly(0L, 2L, 4L, 6L);
			CountDownLatch lastEnded = new CountDownLatch(1);
			trial.work((record) -> {
				if (record.offset() == 4 && !lastEnded.await(30, TimeUnit.SECONDS)) {
					throw new IllegalStateException("Record 6 never ended");
				}
				return true;
			});

			QueueApp app = trial.start(READ_COMMITTED);
			QueueApp.eventually().until(() -> trial.journal().isSettled(trial.partition(0), 6));
			QueueApp.eventually().until(() -> trial.committed(0) == 4);
			lastEnded.countDown();

			trial.awaitCommitted(8);
			assertThat(Journal.offsets(trial.journal().finished())).isEqualTo(offsets);
			Trial.awaitQuiet(app);
			assertNoLag(app);
		}
	}

	@Test
	void L1_abortedTransactionsAndTrailingMarkersLeaveNoLag() {
		try (Trial trial = Trial.on("aborted", 1)) {
			sendInTransactions(trial, 5, 3, false);
			sendInTransactions(trial, 50, 2, true);
			sendInTransactions(trial, 5, 1, false);
			sendInTransactions(trial, 50, 1, true);
			long end = 3 * 6 + 2 * 51 + 6 + 51;

			QueueApp app = trial.start(READ_COMMITTED, "kafka-queue.defaults.ledger.capacity=4");

			trial.awaitCommitted(end);
			assertThat(trial.journal().finished()).hasSize(20);
			assertThat(trial.journal().records()).isEqualTo(20);
			Trial.awaitQuiet(app);
			assertNoLag(app);

			sendInTransactions(trial, 7, 1, true);
			trial.awaitCommitted(end + 8);
			sendInTransactions(trial, 1, 1, false);
			trial.awaitCommitted(end + 10);
			assertThat(trial.journal().records()).isEqualTo(21);
		}
	}

	private static void assertNoLag(QueueApp app) {
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(Trial.queue(app).partitions()).singleElement()
				.satisfies((view) -> assertThat(view.lag()).isZero()));
	}

	/**
	 * Sends transactions, and tells the journal which offsets are no record to handle.
	 */
	private static List<Long> sendInTransactions(Trial trial, int records, int transactions, boolean abort) {
		List<Long> offsets = new ArrayList<>();
		try (KafkaProducer<String, String> producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap(),
						ProducerConfig.TRANSACTIONAL_ID_CONFIG, trial.topic()),
				new StringSerializer(), new StringSerializer())) {
			producer.initTransactions();
			for (int transaction = 0; transaction < transactions; transaction++) {
				producer.beginTransaction();
				List<Long> sent = new ArrayList<>();
				for (int i = 0; i < records; i++) {
					sent.add(Broker.await(producer.send(new ProducerRecord<>(trial.topic(), "value"))).offset());
				}
				long marker = sent.stream().max(Comparator.naturalOrder()).orElseThrow() + 1;
				trial.journal().settle(trial.partition(0), marker);
				if (abort) {
					sent.forEach((offset) -> trial.journal().settle(trial.partition(0), offset));
					producer.abortTransaction();
				}
				else {
					producer.commitTransaction();
					offsets.addAll(sent);
				}
			}
		}
		return offsets;
	}

}
