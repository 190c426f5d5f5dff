package io.queuestarter;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.container.PartitionView;
import io.queuestarter.deadletter.Destination.Kind;
import io.queuestarter.delivery.History;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Records whose attempts in memory are used up rest in topics between further attempts,
 * step by step, and are dead-lettered after the last.
 */
@Tag("threads")
@ExtendWith(OutputCaptureExtension.class)
class RetryTopicTests {

	private static final byte[] KEY = { 0, 1, (byte) 0xff };

	@Test
	void failedRecordRestsInEachTopicAndIsHandledInTheEnd() {
		String topic = Broker.newTopic("tiers", 3);
		Broker.send(new ProducerRecord<>(topic, 2, KEY, Broker.bytes("fails-4"), List.of(header("trace", "t1"))));

		try (QueueApp app = tiers(app(topic)).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.contains("fails-4"));
			awaitEmpty(app);

			assertThat(handler.calls).extracting(Call::attempt).containsExactly(1, 2, 3, 4, 5);
			assertThat(handler.calls).extracting(Call::topic)
				.containsExactly(topic, topic, topic + "-flaky-retry-1", topic + "-flaky-retry-1", topic + "-later");
			assertThat(Broker.partitionsOf(topic + "-flaky-retry-1")).isEqualTo(3);
			assertThat(app.queue("flaky").redirected(Kind.RETRY)).isEqualTo(3);
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
			for (Call call : handler.calls.subList(2, 5)) {
				assertThat(call.record.key()).isEqualTo(KEY);
				assertThat(text(call.record, "trace")).isEqualTo("t1");
				assertThat(text(call.record, KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic);
				Duration delay = call.topic().endsWith("later") ? Duration.ofMillis(1200) : Duration.ofMillis(400);
				assertThat(call.millis - call.record.timestamp()).as("rest in %s", call.topic())
					.isGreaterThanOrEqualTo(delay.toMillis());
			}
		}
	}

	@Test
	void recordThatHasGoneThroughAllTopicsIsDeadLetteredWithItsWholeStory() {
		String topic = Broker.newTopic("tiers-end", 1);
		Broker.send(topic, null, "first");
		Broker.send(new ProducerRecord<>(topic, 0, KEY, Broker.bytes("fails-9"), List.of(header("trace", "t1"))));

		try (QueueApp app = tiers(app(topic)).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			awaitEmpty(app);

			assertThat(letter.reason()).isEqualTo("retries_exhausted");
			assertThat(letter.attempts()).isEqualTo(5);
			assertThat(letter.text(History.RETRIES)).isEqualTo("3");
			assertThat(letter.text(KafkaHeaders.DLT_ORIGINAL_TOPIC)).isEqualTo(topic);
			assertThat(letter.originalOffset()).isOne();
			assertThat(letter.record().key()).isEqualTo(KEY);
			List<String> names = new ArrayList<>();
			letter.record().headers().forEach((header) -> names.add(header.key()));
			assertThat(names).doesNotHaveDuplicates().startsWith("trace");
			assertThat(app.bean(Handler.class).calls).filteredOn((call) -> call.value().equals("fails-9")).hasSize(5);
		}
	}

	@Test
	void restingRecordsKeepNoOthersWaiting() {
		String topic = Broker.newTopic("tiers-rest", 1);
		Broker.send(topic, null, "fails-2");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.flaky.retry.topics[0].delay", "1h").start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> app.queue("flaky").redirected(Kind.RETRY) == 1);
			Broker.sendNumbers(topic, 1, 500);

			QueueApp.eventually().until(() -> handler.handled.size() == 500);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 501);
			QueueApp.eventually().until(() -> view(app, topic + "-flaky-retry-1").restsUntil() != null);
			Instant seen = Instant.now();
			// Or a rest would be taken for a watermark that does not move.
			QueueApp.eventually().until(() -> view(app, topic + "-flaky-retry-1").unmovedSince().isAfter(seen));
			assertThat(view(app, topic + "-flaky-retry-1").paused()).isTrue();
			assertThat(view(app, topic).paused()).isFalse();
			assertThat(handler.calls).filteredOn((call) -> call.value().equals("fails-2")).hasSize(2);
		}
	}

	@Test
	void recordThatRestedWhileNoInstanceRanIsHandledWhateverTheResetPolicy() {
		String topic = Broker.newTopic("tiers-restart", 1);
		Broker.send(topic, null, "fails-2");
		QueueApp.Builder builder = app(topic).with("kafka-queue.listeners.flaky.retry.topics[0].delay", "2s");
		try (QueueApp app = builder.start()) {
			QueueApp.eventually().until(() -> app.queue("flaky").redirected(Kind.RETRY) == 1);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 1);
		}

		try (QueueApp app = builder.with("spring.kafka.consumer.auto-offset-reset", "latest").start()) {
			QueueApp.eventually().until(() -> app.bean(Handler.class).handled.contains("fails-2"));
			assertThat(app.bean(Handler.class).calls).extracting(Call::attempt).containsExactly(3);
		}
	}

	/*
	 * Record 0 of the retry topic is handled and committed. Then three more are written
	 * there while nobody runs, and retention deletes the first of them: the committed
	 * offset is out of range, and 'latest' would skip the other two.
	 */
	@Test
	void restingRecordsAreHandledWhenRetentionHasDeletedTheCommittedOffset() {
		String topic = Broker.newTopic("tiers-deleted", 1);
		String retryTopic = topic + "-flaky-retry-1";
		QueueApp.Builder builder = app(topic).with("kafka-queue.listeners.flaky.retry.topics[0].delay", "1ms")
			.with("spring.kafka.consumer.auto-offset-reset", "latest");
		try (QueueApp app = builder.start()) {
			Broker.send(retryTopic, null, "first");
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, retryTopic, 0) == 1);
			assertThat(app.bean(Handler.class).handled).containsExactly("first");
		}
		List.of("deleted", "second", "third").forEach((value) -> Broker.send(retryTopic, null, value));
		Broker.await(Broker.admin()
			.deleteRecords(Map.of(new TopicPartition(retryTopic, 0), RecordsToDelete.beforeOffset(2)))
			.all());

		try (QueueApp app = builder.start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, retryTopic, 0) == 4);
			assertThat(app.bean(Handler.class).handled).containsExactlyInAnyOrder("second", "third");
		}
	}

	/*
	 * The headers would say that the record has used up its attempts, timeouts and tiers.
	 */
	@Test
	void recordThatComesWithCountsOfAnotherLifeGoesThroughAllTopics() {
		String topic = Broker.newTopic("tiers-copy", 1);
		Broker.send(new ProducerRecord<>(topic, 0, KEY, Broker.bytes("fails-4"),
				List.of(header(History.ATTEMPTS, "9"), header(History.RETRIES, "9"), header(History.TIMEOUTS, "9"))));

		try (QueueApp app = tiers(app(topic)).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.contains("fails-4"));
			awaitEmpty(app);

			assertThat(handler.calls).extracting(Call::attempt).containsExactly(1, 2, 3, 4, 5);
			assertThat(text(handler.calls.get(4).record(), History.RETRIES)).isEqualTo("3");
			assertThat(text(handler.calls.get(4).record(), History.TIMEOUTS)).isEqualTo("0");
		}
	}

	@Test
	void X53_recordStaysUntilTheBrokerHasItInTheRetryTopic() {
		String topic = Broker.newTopic("tiers-missing", 1);
		Broker.send(topic, null, "fails-2");

		try (QueueApp app = app(topic).with("kafka-queue.defaults.dlq.create", "false")
			.with("spring.kafka.consumer.properties[allow.auto.create.topics]", "false")
			.with("kafka-queue.listeners.flaky.retry.topics[0].delay", "1ms")
			.start()) {
			QueueApp.eventually().until(() -> app.queue("flaky").deadLetterProblem() != null);
			assertThat(Broker.committedOffset(topic, topic, 0)).isLessThanOrEqualTo(0);
			assertThat(app.bean(Handler.class).calls).hasSize(2);

			Broker.createTopic(topic + "-flaky-retry-1", 1, Map.of());

			QueueApp.eventually().until(() -> app.bean(Handler.class).handled.contains("fails-2"));
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 1);
			assertThat(app.bean(Handler.class).calls).extracting(Call::attempt).containsExactly(1, 2, 3);
		}
	}

	@Test
	void recordTooLargeForItsRetryTopicBecomesADeadLetter() {
		String topic = Broker.newTopic("tiers-large", 1);
		Broker.createTopic(topic + "-flaky-retry-1", 1, Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "1000"));
		Broker.send(topic, null, "fails-9" + "x".repeat(5000));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.flaky.retry.topics[0].delay", "1ms").start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			awaitEmpty(app);

			assertThat(letter.reason()).isEqualTo("too_large");
			assertThat(letter.attempts()).isEqualTo(2);
			assertThat(letter.value()).hasSize(5007);
		}
	}

	/** Also if its first attempt timed out before anybody looked. */
	@ParameterizedTest
	@ValueSource(strings = { "200ms", "4s" })
	void blockedHeadGoesOnInTheParkTopic(String timeout) {
		String topic = Broker.newTopic("park", 1);
		Broker.send(topic, null, "hangs");
		Broker.sendNumbers(topic, 1, 500);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.flaky.ledger.capacity", "100")
			.with("kafka-queue.listeners.flaky.dispatch.max-in-flight", "4")
			.with("kafka-queue.listeners.flaky.timeout.initial", timeout)
			// Or its attempts may be over before it is seen to block.
			.with("kafka-queue.listeners.flaky.timeout.max-count", "100")
			.with("kafka-queue.listeners.flaky.retry.local.max-attempts", "100")
			.with("kafka-queue.listeners.flaky.blocking.enabled", "true")
			.with("kafka-queue.listeners.flaky.blocking.action", "park")
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 501);
			assertThat(app.queue("flaky").redirected(Kind.PARK)).isOne();
			assertThat(app.queue("flaky").outcomes().cancelledCount()).isOne();

			QueueApp.eventually()
				.until(() -> handler.calls.stream().anyMatch((call) -> call.topic().equals(topic + "-flaky-park")));
			handler.hold.release();

			QueueApp.eventually().until(() -> handler.handled.contains("hangs"));
			awaitEmpty(app);
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	@Test
	void delayBeyondTheRetentionIsWarnedAboutAtStart(CapturedOutput output) {
		String topic = Broker.newTopic("tiers-retention", 1);
		Broker.createTopic(topic + "-flaky-retry-1", 1, Map.of(TopicConfig.RETENTION_MS_CONFIG, "60000"));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.flaky.retry.topics[0].delay", "1m").start()) {
			assertThat(app.queue("flaky").subscription()).containsExactly(topic, topic + "-flaky-retry-1");
			assertThat(output).contains("Topic '" + topic
					+ "-flaky-retry-1' keeps records for PT1M (retention.ms), and " + "they rest there for PT1M");
		}
	}

	@Test
	void delayOfMoreThanADayIsRefused() {
		assertThatThrownBy(
				() -> app("orders").with("kafka-queue.listeners.flaky.retry.topics[0].delay", "25h").start().close())

			.hasMessageContaining("retry.topics is ")
			.hasMessageContaining("delay=PT25H")
			.hasMessageContaining("it must be a list whose delays are set, and between 0 and PT24H");
	}

	@Test
	void topicOfTheSameNameAsAnotherIsRefused() {
		assertThatThrownBy(() -> app("orders").with("kafka-queue.listeners.flaky.retry.topics[0].delay", "1s")
			.with("kafka-queue.listeners.flaky.retry.topics[0].topic", "same")
			.with("kafka-queue.listeners.flaky.retry.topics[1].delay", "2s")
			.with("kafka-queue.listeners.flaky.retry.topics[1].topic", "same")
			.start()
			.close()).hasMessageContaining("a retry or park topic has the name of another");
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Handler.class)
			.with("topic", topic)
			.with("kafka-queue.listeners.flaky.retry.local.max-attempts", "2");
	}

	private static QueueApp.Builder tiers(QueueApp.Builder builder) {
		return builder.with("kafka-queue.listeners.flaky.retry.topics[0].delay", "400ms")
			.with("kafka-queue.listeners.flaky.retry.topics[0].attempts", "2")
			.with("kafka-queue.listeners.flaky.retry.topics[1].delay", "1200ms")
			.with("kafka-queue.listeners.flaky.retry.topics[1].topic", "{topic}-later");
	}

	private static void awaitEmpty(QueueApp app) {
		QueueApp.eventually()
			.until(() -> app.queue("flaky").partitions().stream().allMatch((view) -> view.outstanding() == 0)
					&& app.queue("flaky").inFlight() == 0);
	}

	private static PartitionView view(QueueApp app, String topic) {
		return app.queue("flaky")
			.partitions()
			.stream()
			.filter((view) -> view.partition().topic().equals(topic))
			.findFirst()
			.orElseThrow();
	}

	private static RecordHeader header(String name, String value) {
		return new RecordHeader(name, value.getBytes(StandardCharsets.UTF_8));
	}

	private static String text(ConsumerRecord<?, ?> record, String name) {
		Header header = Objects.requireNonNull(record.headers().lastHeader(name), name);
		return new String(header.value(), StandardCharsets.UTF_8);
	}

	private record Call(ConsumerRecord<byte[], String> record, int attempt, long millis) {

		String topic() {
			return this.record.topic();
		}

		String value() {
			return this.record.value();
		}

	}

	static class Handler {

		final Hold hold = new Hold();

		final List<Call> calls = new CopyOnWriteArrayList<>();

		final Set<String> handled = ConcurrentHashMap.newKeySet();

		@QueueListener(id = "flaky", topics = "${topic}", groupId = "${topic}",
				properties = "key.deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer")
		void handle(ConsumerRecord<byte[], String> record, QueueContext context) throws InterruptedException {
			this.calls.add(new Call(record, context.attempt(), System.currentTimeMillis()));
			if (record.value().startsWith("fails-")
					&& context.attempt() <= Integer.parseInt(record.value().substring(6, 7))) {
				throw new IllegalStateException("attempt " + context.attempt());
			}
			if (record.value().equals("hangs")) {
				this.hold.await();
			}
			this.handled.add(record.value());
		}

	}

}
