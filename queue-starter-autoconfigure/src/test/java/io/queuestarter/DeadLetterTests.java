package io.queuestarter;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.serializer.JacksonJsonSerializer;
import org.springframework.messaging.handler.annotation.Payload;

import io.queuestarter.deadletter.DeadLetterHeaders;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a dead letter is made of. One record is sent whose handler fails; its dead letter
 * carries the key, value and headers of the record as they were, byte for byte, and
 * behind them the story of its end, in the formats of Spring Kafka where it has one.
 */
class DeadLetterTests {

	@Test
	void D1_deadLetterTopicWithFewerPartitionsTakesRecordsOfAllPartitions() {
		String topic = Broker.newTopic("dead-d1", 12);
		Broker.createTopic(topic + "-dlq", 1, Map.of());
		Broker.send(new ProducerRecord<>(topic, 11, bytes("k"), bytes("bad")));
		long start = System.nanoTime();

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("dead", topic, 11) == 1);

			assertThat(letter.originalPartition()).isEqualTo(11);
			assertThat(letter.originalOffset()).isZero();
			assertThat(letter.record().partition()).isZero();
			assertThat(app.queue("dead").deadLetterFailures()).isZero();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
		}
	}

	@Test
	void D4_nullKeyAndNullValueStayNull() {
		String topic = Broker.newTopic("dead-d4", 1);
		Broker.send(topic, null, null);

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("dead", topic, 0) == 1);

			assertThat((Object) letter.record().key()).isNull();
			assertThat((Object) letter.record().value()).isNull();
			assertThat(letter.reason()).isEqualTo("retries_exhausted");
			assertThat(letter.attempts()).isEqualTo(3);
			assertThat(app.bean(Failing.class).headers).hasSize(3);
		}
	}

	@Test
	void D5_headersThatAreNoTextReachTheHandlerAndTheDeadLetterAsTheyAre() {
		String topic = Broker.newTopic("dead-d5", 1);
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, bytes("k"), bytes("bad"));
		record.headers()
			.add("x", null)
			.add("y", new byte[] { (byte) 0xff, (byte) 0xfe, 0 })
			.add("lane", new byte[] { (byte) 0xc3, 0x28 })
			.add("traceparent", null)
			.add("y", new byte[] { 1 })
			.add("spring_json_header_types", bytes("{not json"))
			.add("", new byte[0]);
		Broker.send(record);

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("dead", topic, 0) == 1);

			List<Header> sent = List.of(record.headers().toArray());
			assertThat(List.of(letter.record().headers().toArray())).startsWith(sent.toArray(new Header[0]));
			assertThat(app.bean(Failing.class).headers).hasSize(3)
				.allSatisfy((headers) -> assertThat(headers).isEqualTo(sent));
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { JacksonJsonSerializer.class, StringSerializer.class })
	void D6_bytesAreEqualWhateverTheApplicationsProducerDoes(Class<?> serializer) {
		String topic = Broker.newTopic("dead-d6", 1);
		long seed = System.nanoTime();
		Random random = new Random(seed);
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, randomBytes(random), randomBytes(random));
		record.headers().add("__TypeId__", randomBytes(random)).add("contentType", randomBytes(random));
		Broker.send(record);

		try (QueueApp app = app(topic).with("spring.kafka.producer.key-serializer", serializer.getName())
			.with("spring.kafka.producer.value-serializer", serializer.getName())
			.with("spring.kafka.producer.transaction-id-prefix", "tx-")
			.with("spring.kafka.producer.acks", "0")
			.with("spring.kafka.producer.retries", "0")
			.with("spring.kafka.producer.properties.enable.idempotence", "false")
			.with("spring.kafka.producer.properties.interceptor.classes", Meddling.class.getName())
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("dead", topic, 0) == 1);

			assertThat(hash(letter.record().key())).as("seed %s", seed).isEqualTo(hash(record.key()));
			assertThat(hash(letter.record().value())).as("seed %s", seed).isEqualTo(hash(record.value()));
			assertThat(List.of(letter.record().headers().toArray())).as("seed %s", seed)
				.startsWith(record.headers().toArray());
		}
	}

	@Test
	void storyIsToldAsSpringKafkaTellsIt() {
		String topic = Broker.newTopic("dead-story", 2);
		String other = Broker.newTopic("dead-recoverer", 1);
		Broker.send(new ProducerRecord<>(topic, 1, bytes("k"), bytes("good")));
		Broker.send(new ProducerRecord<>(topic, 1, 1234567890123L, bytes("k"), bytes("caused")));

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			DeadLetter recovered = recover(Broker.records(topic).get(1), other);

			assertThat(Stream.of(letter.record().headers().toArray()).map(Header::key).toList())
				.doesNotHaveDuplicates();
			for (String header : List.of(KafkaHeaders.DLT_ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_PARTITION,
					KafkaHeaders.DLT_ORIGINAL_OFFSET, KafkaHeaders.DLT_ORIGINAL_TIMESTAMP,
					KafkaHeaders.DLT_ORIGINAL_TIMESTAMP_TYPE, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP,
					KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN)) {
				assertThat(letter.bytes(header)).as(header).isEqualTo(recovered.bytes(header));
			}
			assertThat(Stream.of(recovered.record().headers().toArray()).map(Header::key))
				.allSatisfy((header) -> assertThat(letter.find(header)).as(header).isPresent());
			assertThat(letter.exception()).isEqualTo(IllegalStateException.class.getName());
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_MESSAGE)).isEqualTo("no answer from billing");
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_STACKTRACE))
				.startsWith("java.lang.IllegalStateException: no answer from billing")
				.contains("Caused by: java.io.UncheckedIOException");
			assertThat(letter.text(DeadLetterHeaders.LISTENER)).isEqualTo("dead");
			assertThat(letter.reason()).isEqualTo("retries_exhausted");
			assertThat(letter.attempts()).isEqualTo(3);
		}
	}

	/*
	 * D2: payload close to the limit of the topic, and an exception that tells more than
	 * the payload.
	 */
	@Test
	void D2_messageAndStackTraceAreCutAndThePayloadIsNot() {
		String topic = Broker.newTopic("dead-d2", 1);
		byte[] payload = new byte[1_000_000];
		Arrays.fill(payload, (byte) 'h');
		Broker.send(new ProducerRecord<>(topic, null, payload));

		try (QueueApp app = app(topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("dead", topic, 0) == 1);

			assertThat(hash(letter.record().value())).isEqualTo(hash(payload));
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_MESSAGE)).hasSize(1024).endsWith("...");
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_STACKTRACE)).hasSize(8192).endsWith("...");
			assertThat(app.queue("dead").deadLetterFailures()).isZero();
		}
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Failing.class).with("topic", topic);
	}

	/** Lets Spring Kafka write the dead letter of a record. */
	private static DeadLetter recover(ConsumerRecord<byte[], byte[]> record, String topic) {
		Map<String, Object> config = new HashMap<>();
		config.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap());
		DefaultKafkaProducerFactory<byte[], byte[]> factory = new DefaultKafkaProducerFactory<>(config,
				new ByteArraySerializer(), new ByteArraySerializer());
		try {
			new DeadLetterPublishingRecoverer(new KafkaTemplate<>(factory),
					(failed, ex) -> new TopicPartition(topic, 0))
				.accept(record, new ListenerExecutionFailedException("failed", "dead", Failing.failure()));
			return DeadLetter.awaitIn(topic, 1).get(0);
		}
		finally {
			factory.destroy();
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[] randomBytes(Random random) {
		byte[] bytes = new byte[1 + random.nextInt(2000)];
		random.nextBytes(bytes);
		return bytes;
	}

	private static String hash(byte[] bytes) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Failing {

		final List<List<Header>> headers = new CopyOnWriteArrayList<>();

		@QueueListener(id = "dead", topics = "${topic}", groupId = "dead")
		void handle(@Payload(required = false) @Nullable String value, ConsumerRecord<String, String> record) {
			this.headers.add(List.of(record.headers().toArray()));
			if ("good".equals(value)) {
				return;
			}
			if ("caused".equals(value)) {
				throw new IllegalStateException("no answer from billing", failure());
			}
			throw new IllegalStateException((value != null && value.startsWith("h")) ? value.repeat(2) : value);
		}

		static RuntimeException failure() {
			return new UncheckedIOException(new IOException("connection refused"));
		}

	}

	/** An interceptor of the application, not meant for dead letters. */
	public static final class Meddling implements ProducerInterceptor<Object, Object> {

		@Override
		public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
			throw new IllegalStateException("not meant for dead letters");
		}

		@Override
		public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
		}

		@Override
		public void close() {
		}

		@Override
		public void configure(Map<String, ?> configs) {
		}

	}

}
