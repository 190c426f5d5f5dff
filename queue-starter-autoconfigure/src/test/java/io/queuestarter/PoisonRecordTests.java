package io.queuestarter;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.kafka.support.serializer.ErrorHandlingDeserializer;
import org.springframework.kafka.support.serializer.JacksonJsonDeserializer;
import org.springframework.messaging.MessageHandlingException;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.annotation.support.MethodArgumentNotValidException;

import io.queuestarter.container.QueueListenerContainerFactory;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records that cannot reach their handler. Among good records lies one whose key or value
 * does not decode, whose payload does not convert or validate, or that lacks a header.
 * After one attempt it is in the dead-letter topic with the bytes it came with, and the
 * partition is committed to its end.
 */
@Tag("threads")
class PoisonRecordTests {

	private static final byte[] BAD = { (byte) 0xff, 0, (byte) 0xfe, 1, 2 };

	private static final byte[] ONE = { 0, 0, 0, 1 };

	@Test
	void B4_keyThatDoesNotDecode() {
		String topic = Broker.newTopic("poison-key", 1);
		sendAmongGood(topic, ONE, BAD, ONE);

		try (QueueApp app = app(Numbers.class, topic)
			.with("spring.kafka.consumer.key-deserializer", IntegerDeserializer.class.getName())
			.with("spring.kafka.consumer.value-deserializer", IntegerDeserializer.class.getName())
			.start()) {
			assertPoison(app, topic, "undecodable", BAD, ONE);
		}
	}

	@Test
	void B4_valueThatDoesNotDecode() {
		String topic = Broker.newTopic("poison-value", 1);
		sendAmongGood(topic, ONE, ONE, BAD);

		try (QueueApp app = app(Numbers.class, topic)
			.with("spring.kafka.consumer.key-deserializer", IntegerDeserializer.class.getName())
			.with("spring.kafka.consumer.value-deserializer", IntegerDeserializer.class.getName())
			.start()) {
			DeadLetter letter = assertPoison(app, topic, "undecodable", ONE, BAD);
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN))
				.isEqualTo(SerializationException.class.getName());
		}
	}

	@Test
	void B4_valueThatTheApplicationsErrorHandlingDeserializerReports() {
		String topic = Broker.newTopic("poison-error-handling", 1);
		sendAmongGood(topic, ONE, BAD, BAD);

		try (QueueApp app = app(Numbers.class, topic)
			.with("spring.kafka.consumer.key-deserializer", ErrorHandlingDeserializer.class.getName())
			.with("spring.kafka.consumer.value-deserializer", ErrorHandlingDeserializer.class.getName())
			.with("spring.kafka.consumer.properties." + ErrorHandlingDeserializer.KEY_DESERIALIZER_CLASS,
					IntegerDeserializer.class.getName())
			.with("spring.kafka.consumer.properties." + ErrorHandlingDeserializer.VALUE_DESERIALIZER_CLASS,
					IntegerDeserializer.class.getName())
			.start()) {
			DeadLetter letter = assertPoison(app, topic, "undecodable", BAD, BAD);
			assertThat(letter.record().headers()).noneMatch((header) -> header.key().startsWith("springDeserializer"));
		}
	}

	@Test
	void B4_valueThatADeserializerInstanceDoesNotDecode() {
		String topic = Broker.newTopic("poison-instance", 1);
		sendAmongGood(topic, ONE, ONE, BAD);

		try (QueueApp app = QueueApp.of(DeserializerInstances.class, Numbers.class).with("topic", topic).start()) {
			assertPoison(app, topic, "undecodable", ONE, BAD);
		}
	}

	@Test
	void B4_valueThatDoesNotConvert() {
		String topic = Broker.newTopic("poison-convert", 1);
		byte[] bad = bytes("{\"name\":");
		sendAmongGood(topic, bytes("{\"name\":\"Ann\"}"), ONE, bad);

		try (QueueApp app = QueueApp.of(JsonConverter.class, JsonValidated.class).with("topic", topic).start()) {
			DeadLetter letter = assertPoison(app, topic, "unprocessable", ONE, bad);
			assertThat(letter.exception()).isEqualTo(ConversionException.class.getName());
		}
	}

	@Test
	void B4_valueThatDoesNotValidate() {
		String topic = Broker.newTopic("poison-valid", 1);
		byte[] bad = bytes("{\"name\":\" \"}");
		sendAmongGood(topic, bytes("{\"name\":\"Ann\"}"), ONE, bad);

		try (QueueApp app = QueueApp.of(JsonConverter.class, JsonValidated.class).with("topic", topic).start()) {
			DeadLetter letter = assertPoison(app, topic, "unprocessable", ONE, bad);
			assertThat(letter.exception()).isEqualTo(MethodArgumentNotValidException.class.getName());
		}
	}

	@Test
	void B4_requiredHeaderThatIsMissing() {
		String topic = Broker.newTopic("poison-header", 1);
		byte[] good = bytes("good");
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, ONE, good);
		record.headers().add("tenant", bytes("blue"));
		Broker.send(record);
		Broker.send(new ProducerRecord<>(topic, null, ONE, good));
		Broker.send(record);

		try (QueueApp app = app(RequiringHeader.class, topic).start()) {
			DeadLetter letter = assertPoison(app, topic, "unprocessable", ONE, good);
			assertThat(letter.exception()).isEqualTo(MessageHandlingException.class.getName());
		}
	}

	@Test
	void headerThatCannotBeMappedFailsOnlyWhoReadsIt() {
		String topic = Broker.newTopic("poison-unread", 1);
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, ONE, ONE);
		record.headers().add(KafkaHeaders.DELIVERY_ATTEMPT, new byte[1]);
		Broker.send(record);

		try (QueueApp app = app(Numbers.class, topic)
			.with("spring.kafka.consumer.value-deserializer", IntegerDeserializer.class.getName())
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset("poison", topic, 0) == 1);

			assertThat(app.queue("poison").outcomes().acknowledgedCount()).isOne();
		}
	}

	/*
	 * The type header is taken off by the deserializer and must be there again for the
	 * second attempt and in the dead letter.
	 */
	@Test
	void headersThatADeserializerRemovesStayWithTheRecord() {
		String topic = Broker.newTopic("poison-type-header", 1);
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, null, bytes("{\"name\":\"Ann\"}"));
		record.headers().add("__TypeId__", bytes(Person.class.getName()));
		Broker.send(record);

		try (QueueApp app = app(TypedByHeader.class, topic)
			.with("spring.kafka.consumer.value-deserializer", JacksonJsonDeserializer.class.getName())
			.with("spring.kafka.consumer.properties." + JacksonJsonDeserializer.TRUSTED_PACKAGES, "*")
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.bytes("__TypeId__")).isEqualTo(bytes(Person.class.getName()));
			assertThat(letter.record().value()).isEqualTo(record.value());
			assertThat(letter.attempts()).isEqualTo(3);
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_MESSAGE)).isEqualTo("Person[name=Ann]");
		}
	}

	@Test
	void bytesThatAHandlerWritesToStayWithTheRecord() {
		String topic = Broker.newTopic("poison-in-place", 1);
		Broker.send(new ProducerRecord<>(topic, null, ONE, bytes("secret")));

		try (QueueApp app = app(InPlace.class, topic)
			.with("spring.kafka.consumer.key-deserializer",
					"org.apache.kafka.common.serialization.ByteArrayDeserializer")
			.with("spring.kafka.consumer.value-deserializer",
					"org.apache.kafka.common.serialization.ByteArrayDeserializer")
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.value()).isEqualTo("secret");
			assertThat(letter.record().key()).isEqualTo(ONE);
			assertThat(app.bean(InPlace.class).seen).containsExactly("secret", "secret", "secret");
		}
	}

	@Test
	void deserializerIsNeverUsedByTwoThreadsAtOnce() {
		String topic = Broker.newTopic("poison-threads", 2);
		Broker.sendNumbers(topic, 2, 2000);
		Exclusive.reset();

		try (QueueApp app = app(Parallel.class, topic)
			.with("spring.kafka.consumer.value-deserializer", Exclusive.class.getName())
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedSum("poison", topic) == 2000);

			assertThat(Exclusive.SHARED).hasValue(0);
			assertThat(app.queue("poison").outcomes().acknowledgedCount()).isEqualTo(2000);
			assertThat(app.bean(Parallel.class).threads).hasSizeGreaterThan(1);
		}
	}

	@Test
	void deserializerInstanceIsNeverUsedByTwoThreadsAtOnce() {
		String topic = Broker.newTopic("poison-single", 2);
		Broker.sendNumbers(topic, 2, 2000);
		Exclusive.reset();

		try (QueueApp app = QueueApp.of(Parallel.class, ExclusiveInstance.class).with("topic", topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum("poison", topic) == 2000);

			assertThat(Exclusive.SHARED).hasValue(0);
			assertThat(app.queue("poison").outcomes().acknowledgedCount()).isEqualTo(2000);
		}
	}

	@Test
	void recordsThatAFilterStrategyDropsAreSettled() {
		String topic = Broker.newTopic("poison-filter", 1);
		Broker.sendNumbers(topic, 1, 10);

		try (QueueApp app = app(Filtered.class, topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset("poison", topic, 0) == 10);

			assertThat(app.bean(Filtered.class).seen).containsExactlyInAnyOrder("5", "6", "7", "8", "9");
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	private static QueueApp.Builder app(Class<?> handler, String topic) {
		return QueueApp.of(handler).with("topic", topic);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static void sendAmongGood(String topic, byte[] goodValue, byte[] key, byte[] value) {
		Broker.send(new ProducerRecord<>(topic, null, ONE, goodValue));
		Broker.send(new ProducerRecord<>(topic, null, key, value));
		Broker.send(new ProducerRecord<>(topic, null, ONE, goodValue));
	}

	private static DeadLetter assertPoison(QueueApp app, String topic, String reason, byte[] key, byte[] value) {
		DeadLetter letter = DeadLetter.awaitOne(topic);
		QueueApp.eventually().until(() -> Broker.committedOffset("poison", topic, 0) == 3);

		assertThat(letter.record().key()).isEqualTo(key);
		assertThat(letter.record().value()).isEqualTo(value);
		assertThat(letter.reason()).isEqualTo(reason);
		assertThat(letter.attempts()).isOne();
		assertThat(letter.originalOffset()).isOne();
		assertThat(app.queue("poison").outcomes().acknowledgedCount()).isEqualTo(2);
		assertThat(app.queue("poison").outcomes().retriedCount()).isZero();
		return letter;
	}

	record Person(@NotBlank String name) {

	}

	static class Numbers {

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(int value) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DeserializerInstances {

		@Bean
		ConsumerFactory<Integer, Integer> consumerFactory() {
			return new DefaultKafkaConsumerFactory<>(
					Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap()), new IntegerDeserializer(),
					new IntegerDeserializer());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JsonConverter {

		@Bean
		RecordMessageConverter converter() {
			return new StringJacksonJsonMessageConverter();
		}

	}

	static class JsonValidated {

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(@Payload @Valid Person person) {
		}

	}

	static class RequiringHeader {

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(String value, @Header("tenant") String tenant) {
		}

	}

	static class TypedByHeader {

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(Person person) {
			throw new IllegalStateException(person.toString());
		}

	}

	static class InPlace {

		final List<String> seen = new CopyOnWriteArrayList<>();

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(byte[] value, @Header(KafkaHeaders.RECEIVED_KEY) byte[] key) {
			this.seen.add(new String(value, StandardCharsets.UTF_8));
			Arrays.fill(value, (byte) 0);
			Arrays.fill(key, (byte) 0);
			throw new IllegalStateException("after decryption in place");
		}

	}

	static class Parallel {

		final Set<Thread> threads = ConcurrentHashMap.newKeySet();

		private final CyclicBarrier barrier = new CyclicBarrier(2);

		private final AtomicInteger calls = new AtomicInteger();

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(String value) throws Exception {
			this.threads.add(Thread.currentThread());
			if (this.calls.incrementAndGet() <= 2) {
				this.barrier.await(20, TimeUnit.SECONDS);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ExclusiveInstance {

		@Bean
		ConsumerFactory<String, String> consumerFactory() {
			return new DefaultKafkaConsumerFactory<>(
					Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap()), new StringDeserializer(),
					new Exclusive());
		}

	}

	/** Notices when two threads are inside of one instance. */
	public static final class Exclusive implements Deserializer<String> {

		static final AtomicInteger SHARED = new AtomicInteger();

		private final AtomicInteger inside = new AtomicInteger();

		static void reset() {
			SHARED.set(0);
		}

		@Override
		public @Nullable String deserialize(String topic, byte[] data) {
			if (this.inside.incrementAndGet() != 1) {
				SHARED.incrementAndGet();
			}
			try {
				Thread.yield();
				return new String(data, StandardCharsets.UTF_8);
			}
			finally {
				this.inside.decrementAndGet();
			}
		}

		@Override
		public @Nullable String deserialize(String topic, Headers headers, byte[] data) {
			return deserialize(topic, data);
		}

	}

	static class Filtered {

		final List<String> seen = new CopyOnWriteArrayList<>();

		@Autowired
		void filter(QueueListenerContainerFactory factory) {
			factory.setRecordFilterStrategy((record) -> Integer.parseInt(String.valueOf((Object) record.value())) < 5);
		}

		@QueueListener(id = "poison", topics = "${topic}", groupId = "poison")
		void handle(String value) {
			this.seen.add(value);
		}

	}

}
