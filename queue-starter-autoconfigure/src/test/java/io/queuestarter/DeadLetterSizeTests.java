package io.queuestarter;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Large records that fail. One that its own topic took is dead-lettered, with its story
 * if that fits; one that the dead-letter topic does not take is held, is told of while
 * others are written, and holds up no stop.
 */
class DeadLetterSizeTests {

	@Test
	void recordLargerThanABrokersDefaultIsDeadLetteredWithItsStory() {
		String topic = Broker.newTopic("size-large", 2, Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "4000000"));
		byte[] value = value(3_999_000);
		send(topic, value);

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.record().value()).isEqualTo(value);
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).hasSize(8192);
			assertThat(app.queue("size").deadLetterFailures()).isZero();
			assertThat(limit(topic + "-dlq")).isEqualTo("4065536");
		}
	}

	@Test
	void topicWithoutALimitOfItsOwnGetsADeadLetterTopicWithout() {
		String topic = Broker.newTopic("size-default", 1);
		Broker.send(topic, null, "small");

		try (QueueApp app = app(topic).start()) {
			DeadLetter.awaitOne(topic);

			assertThat(limit(topic + "-dlq")).isEqualTo(limit(topic));
			assertThat(app.queue("size").deadLetterFailures()).isZero();
		}
	}

	@Test
	void storyIsCutIfTheRecordIsTooLargeWithIt() {
		String topic = Broker.newTopic("size-close", 1);
		byte[] value = value(1_045_000);
		send(topic, value);

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("size", topic, 0) == 1);

			assertThat(letter.record().value()).isEqualTo(value);
			assertThat(letter.exception()).isEqualTo(IllegalStateException.class.getName());
			assertThat(letter.find(KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).isEmpty();
			assertThat(letter.find(KafkaHeaders.DLT_EXCEPTION_MESSAGE)).isEmpty();
			assertThat(app.queue("size").deadLetterProblem()).isNull();
		}
	}

	@Test
	void recordThatTheDeadLetterTopicDoesNotTakeIsToldOfAndHoldsUpNoStop() {
		String topic = Broker.newTopic("size-held", 1);
		Broker.createTopic(topic + "-dlq", 1, Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, "20000"));
		send(topic, value(50_000));
		QueueApp app = app(topic).with("kafka-queue.defaults.shutdown.drain-timeout", "25s").start();
		String problem = "1 record is too large for '" + topic + "-dlq'; raise max.message.bytes of the topic";
		QueueApp.eventually().until(() -> problem.equals(app.queue("size").deadLetterProblem()));
		Broker.send(topic, null, "small");
		List<DeadLetter> letters = DeadLetter.await(topic, 1);
		QueueApp.eventually().until(() -> app.queue("size").deadLettered() == 1);

		assertThat(letters).singleElement().satisfies((letter) -> assertThat(letter.value()).isEqualTo("small"));
		assertThat(app.queue("size").deadLetterProblem()).isEqualTo(problem);
		assertThat(app.queue("size").partitions()).singleElement()
			.satisfies((view) -> assertThat(Objects.requireNonNull(view.head()).state()).isEqualTo("DEAD_LETTER_HELD"));
		long start = System.nanoTime();
		app.close();

		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
		assertThat(Broker.committedOffset("size", topic, 0)).isLessThanOrEqualTo(0);
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Failing.class).with("topic", topic);
	}

	private static byte[] value(int size) {
		byte[] value = new byte[size];
		Arrays.fill(value, (byte) 'h');
		return value;
	}

	private static void send(String topic, byte[] value) {
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap(),
						ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 10_000_000),
				new ByteArraySerializer(), new ByteArraySerializer())) {
			Broker.await(producer.send(new ProducerRecord<>(topic, 0, null, value)));
		}
	}

	private static String limit(String topic) {
		ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
		Config config = Broker.await(Broker.admin().describeConfigs(List.of(resource)).all()).get(resource);
		return Objects.requireNonNull(config).get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG).value();
	}

	static class Failing {

		@QueueListener(id = "size", topics = "${topic}", groupId = "size", maxAttempts = "1")
		void handle(String value) {
			throw new IllegalStateException(value.repeat(2), new IllegalStateException(value.repeat(2)));
		}

	}

}
