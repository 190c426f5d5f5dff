package io.queuestarter;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;
import reactor.core.publisher.Flux;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What a handler method may declare. One record is sent, the method is called with it in
 * the form it asked for, and the group commits the offset behind it. A method that could
 * not keep the promises of a queue fails start-up.
 */
class HandlerSignatureTests {

	@Test
	void textAndHeadersArePassed() throws InterruptedException {
		String topic = Broker.newTopic("signature-headers", 1);
		send(topic, "k", "v", "tenant", "blue");

		try (QueueApp app = QueueApp.of(TextAndHeaders.class).with("topic", topic).start()) {
			List<Object> call = take(app.bean(TextAndHeaders.class).calls);

			assertThat(call).containsExactly("v", "blue", "k", topic, 0L, "signature-headers");
			awaitCommitted("signature-headers", topic, 1);
		}
	}

	@Test
	void jsonIsConvertedByTheApplicationsConverter() throws InterruptedException {
		String topic = Broker.newTopic("signature-json", 1);
		send(topic, null, "{\"id\":7,\"city\":\"Oslo\"}", "x", "y");

		try (QueueApp app = QueueApp.of(JsonConverter.class, Json.class).with("topic", topic).start()) {
			assertThat(take(app.bean(Json.class).calls)).containsExactly(new Trip(7, "Oslo"));
			awaitCommitted("signature-json", topic, 1);
		}
	}

	@Test
	void messageIsPassedWithItsHeaders() throws InterruptedException {
		String topic = Broker.newTopic("signature-message", 1);
		send(topic, "k", "v", "tenant", "blue");

		try (QueueApp app = QueueApp.of(WholeMessage.class).with("topic", topic).start()) {
			Message<?> message = (Message<?>) take(app.bean(WholeMessage.class).calls).get(0);

			assertThat(message.getPayload()).isEqualTo("v");
			assertThat(message.getHeaders()).containsEntry(KafkaHeaders.RECEIVED_TOPIC, topic)
				.containsEntry(KafkaHeaders.GROUP_ID, "signature-message");
			awaitCommitted("signature-message", topic, 1);
		}
	}

	@Test
	void recordIsPassedWithDecodedKeyAndValue() throws InterruptedException {
		String topic = Broker.newTopic("signature-record", 1);
		send(topic, "k", "v", "tenant", "blue");

		try (QueueApp app = QueueApp.of(WholeRecord.class).with("topic", topic).start()) {
			ConsumerRecord<?, ?> record = (ConsumerRecord<?, ?>) take(app.bean(WholeRecord.class).calls).get(0);

			assertThat(record.key()).isEqualTo("k");
			assertThat(record.value()).isEqualTo("v");
			assertThat(record.offset()).isZero();
			assertThat(record.headers().lastHeader("tenant").value()).isEqualTo(Broker.bytes("blue"));
			awaitCommitted("signature-record", topic, 1);
		}
	}

	@Test
	void contextTellsAttemptAndDeadline() throws InterruptedException {
		String topic = Broker.newTopic("signature-context", 1);
		Broker.send(topic, null, "v");

		try (QueueApp app = QueueApp.of(WithContext.class).with("topic", topic).start()) {
			List<Object> first = take(app.bean(WithContext.class).calls);
			List<Object> second = take(app.bean(WithContext.class).calls);

			assertThat(first.get(0)).isEqualTo(1);
			assertThat(second.get(0)).isEqualTo(2);
			assertThat((Duration) first.get(1)).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
			assertThat((Instant) first.get(2)).isBetween(Instant.now().minusSeconds(30), Instant.now().plusSeconds(20));
			assertThat(first.get(3)).isEqualTo(false);
			awaitCommitted("signature-context", topic, 1);
		}
	}

	@Test
	void contextsAckCountsThoughTheHandlerFailsAfterwards() throws InterruptedException {
		String topic = Broker.newTopic("signature-ack", 1);
		Broker.send(topic, null, "ack");

		try (QueueApp app = QueueApp.of(Deciding.class).with("topic", topic).start()) {
			awaitCommitted("signature-deciding", topic, 1);

			assertThat(app.bean(Deciding.class).calls).hasSize(1);
			assertThat(app.queue("deciding").outcomes().acknowledgedCount()).isOne();
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	@Test
	void contextsRejectGoesToTheDeadLetterTopicAtOnce() {
		String topic = Broker.newTopic("signature-reject", 1);
		Broker.send(topic, null, "reject");

		try (QueueApp app = QueueApp.of(Deciding.class).with("topic", topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.reason()).isEqualTo("nack");
			assertThat(letter.attempts()).isOne();
			assertThat(letter.exception()).isEqualTo(QueueRejectException.class.getName());
			assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_MESSAGE)).isEqualTo("no such city");
			awaitCommitted("signature-deciding", topic, 1);
		}
	}

	@Test
	void rejectExceptionGoesToTheDeadLetterTopicAtOnce() {
		String topic = Broker.newTopic("signature-throw-reject", 1);
		Broker.send(topic, null, "throw-reject");

		try (QueueApp app = QueueApp.of(Deciding.class).with("topic", topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.reason()).isEqualTo("nack");
			assertThat(letter.attempts()).isOne();
			awaitCommitted("signature-deciding", topic, 1);
		}
	}

	@Test
	void contextsRetryAfterIsAnAttempt() {
		String topic = Broker.newTopic("signature-retry", 1);
		Broker.send(topic, null, "retry");

		try (QueueApp app = QueueApp.of(Deciding.class).with("topic", topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.reason()).isEqualTo("retries_exhausted");
			assertThat(letter.attempts()).isEqualTo(3);
			assertThat(app.bean(Deciding.class).calls).hasSize(3);
			awaitCommitted("signature-deciding", topic, 1);
		}
	}

	@Test
	void consumerArgumentFailsStartUp() {
		assertStartFails(WithConsumer.class, "WithConsumer.handle takes the Kafka consumer");
	}

	@Test
	void fluxFailsStartUp() {
		assertStartFails(ReturningFlux.class, "returns reactor.core.publisher.Flux");
	}

	@Test
	void futureFailsStartUp() {
		assertStartFails(ReturningFuture.class, "returns java.util.concurrent.Future");
	}

	private static void assertStartFails(Class<?> handler, String message) {
		QueueApp.Builder app = QueueApp.of(handler).with("topic", "unused");

		assertThatThrownBy(app::start).hasStackTraceContaining(QueueConfigurationException.class.getName())
			.hasStackTraceContaining(message);
	}

	private static void send(String topic, @Nullable String key, String value, String header, String headerValue) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, Broker.bytes(key),
				Broker.bytes(value));
		record.headers().add(header, headerValue.getBytes(StandardCharsets.UTF_8));
		Broker.send(record);
	}

	private static List<Object> take(BlockingQueue<List<Object>> calls) throws InterruptedException {
		List<Object> call = calls.poll(30, TimeUnit.SECONDS);
		assertThat(call).isNotNull();
		return call;
	}

	private static void awaitCommitted(String group, String topic, long offset) {
		QueueApp.eventually().until(() -> Broker.committedOffset(group, topic, 0) == offset);
	}

	record Trip(int id, String city) {

	}

	@Configuration(proxyBeanMethods = false)
	static class JsonConverter {

		@Bean
		RecordMessageConverter converter() {
			return new StringJacksonJsonMessageConverter();
		}

	}

	static class TextAndHeaders {

		final BlockingQueue<List<Object>> calls = new LinkedBlockingQueue<>();

		@QueueListener(id = "headers", topics = "${topic}", groupId = "signature-headers")
		void handle(@Payload String value, @Header("tenant") String tenant, @Headers Map<String, Object> headers,
				@Header(KafkaHeaders.OFFSET) long offset, @Header(KafkaHeaders.GROUP_ID) String group) {
			this.calls.add(List.of(value, tenant, headers.get(KafkaHeaders.RECEIVED_KEY),
					headers.get(KafkaHeaders.RECEIVED_TOPIC), offset, group));
		}

	}

	static class Json {

		final BlockingQueue<List<Object>> calls = new LinkedBlockingQueue<>();

		@QueueListener(id = "json", topics = "${topic}", groupId = "signature-json")
		void handle(Trip trip) {
			this.calls.add(List.of(trip));
		}

	}

	static class WholeMessage {

		final BlockingQueue<List<Object>> calls = new LinkedBlockingQueue<>();

		@QueueListener(id = "message", topics = "${topic}", groupId = "signature-message")
		void handle(Message<String> message) {
			this.calls.add(List.of(message));
		}

	}

	static class WholeRecord {

		final BlockingQueue<List<Object>> calls = new LinkedBlockingQueue<>();

		@QueueListener(id = "record", topics = "${topic}", groupId = "signature-record")
		void handle(ConsumerRecord<String, String> record) {
			this.calls.add(List.of(record));
		}

	}

	static class WithContext {

		final BlockingQueue<List<Object>> calls = new LinkedBlockingQueue<>();

		@QueueListener(id = "context", topics = "${topic}", groupId = "signature-context", timeout = "20s")
		void handle(String value, QueueContext context) {
			this.calls.add(List.of(context.attempt(), context.remaining(), context.deadline(), context.isCancelled()));
			if (context.attempt() == 1) {
				throw new IllegalStateException("first attempt");
			}
		}

	}

	static class Deciding {

		final List<String> calls = new CopyOnWriteArrayList<>();

		@QueueListener(id = "deciding", topics = "${topic}", groupId = "signature-deciding")
		void handle(String value, QueueContext context) {
			this.calls.add(value);
			switch (value) {
				case "ack" -> {
					context.ack();
					throw new IllegalStateException("too late to matter");
				}
				case "reject" -> context.reject("no such city");
				case "retry" -> context.retryAfter(Duration.ofMillis(5));
				default -> throw new QueueRejectException("no such city");
			}
		}

	}

	static class WithConsumer {

		@QueueListener(id = "consumer", topics = "${topic}", groupId = "signature-refused")
		void handle(String value, Consumer<String, String> consumer) {
		}

	}

	static class ReturningFlux {

		@QueueListener(id = "flux", topics = "${topic}", groupId = "signature-refused")
		Flux<String> handle(String value) {
			return Flux.just(value);
		}

	}

	static class ReturningFuture {

		@QueueListener(id = "future", topics = "${topic}", groupId = "signature-refused")
		Future<String> handle(String value) {
			return CompletableFuture.completedFuture(value);
		}

	}

}
