package io.queuestarter.container;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A topic is deleted and created anew, or grows, under a queue that works on it. What the
 * new topic or partition holds is handled from its first record on, and nothing that was
 * true of the old topic is said of the new one.
 */
@Tag("threads")
@ExtendWith(OutputCaptureExtension.class)
class TopicLifeTests {

	private static final String PROTOCOL = "spring.kafka.consumer.properties.group.protocol=";

	private static final String METADATA_AGE = "spring.kafka.consumer.properties.metadata.max.age.ms=";

	@ParameterizedTest
	@CsvSource({ "classic, 5000, 0", "classic, 50, 1", "consumer, 50, 0", "consumer, 5000, 1" })
	void B1_everyRecordOfATopicCreatedAnewIsHandledAndNothingOfTheOldOneIsCommitted(String protocol, int before,
			int secondsBetween, CapturedOutput output) {
		int after = 100;
		try (Trial trial = Trial.on("anew", 1)) {
			Hold hold = new Hold();
			Set<String> handled = handledAnew(trial, hold, before - 10);
			trial.send(1, before);
			QueueApp app = trial.start(PROTOCOL + protocol, METADATA_AGE + 1000);
			hold.awaitArrived(10);
			trial.awaitCommitted(before - 10);

			Broker.deleteTopic(trial.topic());
			Awaitility.await()
				.during(Duration.ofSeconds(secondsBetween))
				.atMost(Duration.ofSeconds(30))
				.until(() -> trial.committed(0) <= before);
			createAnew(trial, after);
			hold.release();

			QueueApp.eventually().untilAsserted(() -> {
				assertThat(trial.committed(0)).isLessThanOrEqualTo(after);
				assertThat(handled).hasSize(after);
			});
			QueueApp.eventually().until(() -> trial.committed(0) == after);
			assertThat(warnings(output, trial.topic())).hasSize(1);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void B1_aTopicCreatedAnewUnnoticedByTheClientIsReadFromItsBeginning(CapturedOutput output) {
		int after = 100;
		try (Trial trial = Trial.on("unnoticed", 1)) {
			Hold hold = new Hold();
			Set<String> handled = handledAnew(trial, hold, 0);
			trial.send(1, 50);
			// A paused partition is not fetched, and old metadata does not tell.
			QueueApp app = trial.start(PROTOCOL + "classic", "kafka-queue.defaults.ledger.capacity=50",
					"spring.kafka.consumer.max-poll-records=10", "kafka-queue.defaults.dispatch.max-in-flight=60");
			hold.awaitArrived(50);
			// The queue must have seen the first topic.
			QueueApp.eventually().until(() -> Trial.queue(app).topicLives().isKnown(trial.topic()));

			Broker.deleteTopic(trial.topic());
			createAnew(trial, after);
			QueueApp.eventually().until(() -> !warnings(output, trial.topic()).isEmpty());
			hold.release();

			QueueApp.eventually().untilAsserted(() -> assertThat(handled).hasSize(after));
			QueueApp.eventually().until(() -> trial.committed(0) == after);
			assertThat(warnings(output, trial.topic())).hasSize(1);
			Trial.awaitQuiet(app);
		}
	}

	@Test
	void B1_aTopicCreatedAnewWhileTheGroupIsStoppedIsReadFromItsBeginning() {
		try (Trial trial = Trial.on("stopped", 1)) {
			Hold hold = new Hold();
			Set<String> handled = handledAnew(trial, hold, 50);
			trial.send(1, 50);
			QueueApp app = trial.start();
			trial.awaitAll(50);
			Trial.container(app).stop();

			Broker.deleteTopic(trial.topic());
			createAnew(trial, 100);
			Trial.container(app).start();

			QueueApp.eventually().untilAsserted(() -> assertThat(handled).hasSize(100));
			QueueApp.eventually().until(() -> trial.committed(0) == 100);
		}
	}

	@ParameterizedTest
	@CsvSource({ "classic, latest", "consumer, latest" })
	void B5_partitionsAddedToARunningQueueAreReadFromTheirBeginning(String protocol, String reset) {
		int before = 30;
		int after = 300;
		try (Trial trial = Trial.on("growing", 3)) {
			Broker.createTopic(trial.topic() + "-dlq", 1, Map.of());
			for (int partition = 0; partition < 3; partition++) {
				Broker.await(Broker.admin()
					.alterConsumerGroupOffsets(trial.topic(),
							Map.of(trial.partition(partition), new OffsetAndMetadata(0)))
					.all());
			}
			trial.work((record) -> {
				if ("poison".equals(record.value())) {
					trial.journal().settle(trial.partition(record.partition()), record.offset());
					throw new IllegalStateException("Poison");
				}
				return true;
			});
			QueueApp app = trial.start(PROTOCOL + protocol, METADATA_AGE + 2000,
					"spring.kafka.consumer.auto-offset-reset=" + reset);
			trial.send(3, before);
			trial.awaitAll(before);
			QueueApp.eventually().until(() -> Trial.queue(app).topicLives().isKnown(trial.topic()));

			Broker.growTopic(trial.topic(), 6);
			trial.send(6, after);
			Broker.send(new ProducerRecord<>(trial.topic(), 5, null, Broker.bytes("poison")));

			trial.awaitHandled(before + after);
			trial.awaitCommitted(before + after + 1);
			assertThat(DeadLetter.awaitOne(trial.topic()).originalPartition()).isEqualTo(5);
			assertThat(trial.journal().duplicates()).isZero();
			Trial.awaitPartitions(app, 6);
			Trial.awaitQuiet(app);
		}
	}

	/**
	 * Holds records of the old topic from an offset on, and collects those of the new.
	 */
	private static Set<String> handledAnew(Trial trial, Hold hold, long from) {
		Set<String> handled = ConcurrentHashMap.newKeySet();
		trial.work((record) -> {
			if (record.value().startsWith("new")) {
				handled.add(record.value());
			}
			else if (record.offset() >= from) {
				hold.await();
			}
			return true;
		});
		return handled;
	}

	private static void createAnew(Trial trial, int records) {
		trial.journal().forget(trial.partition(0));
		trial.auditor().forget(trial.partition(0));
		Broker.createTopic(trial.topic(), 1, Map.of());
		IntStream.range(0, records).forEach((i) -> Broker.send(trial.topic(), null, "new-" + i));
	}

	private static List<String> warnings(CapturedOutput output, String topic) {
		return output.getAll()
			.lines()
			.filter((line) -> line.contains("WARN") && line.contains("Topic '" + topic + "'"))
			.toList();
	}

}
