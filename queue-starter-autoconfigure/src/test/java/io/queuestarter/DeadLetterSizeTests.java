package io.queuestarter;

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
 * Large records that fail. One that its own topic took is dead-lettered.
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
