package io.queuestarter;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueListenerContainerFactory;
import io.queuestarter.container.QueueState;
import io.queuestarter.outage.CircuitState;
import io.queuestarter.outage.Circuits;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.LogLines;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code of the application that throws where nobody expects it, and what nobody declared:
 * deserializers, filters, handlers, circuit keys, predicates and event consumers of
 * breakers. No record is lost, settled by it, or stuck.
 */
@Tag("threads")
class UserCodeFaultTests {

	/*
	 * Three stages throw an error and an undeclared checked exception, for one record
	 * each. All are dead-lettered, none is settled by its handler, and both places
	 * remain.
	 */
	@Test
	void X50_everyThrowableOfDecoderFilterAndHandlerFailsTheAttempt() {
		String topic = Broker.newTopic("faults", 1);
		Stream
			.of("decode-checked", "decode-error", "filter-checked", "filter-error", "handle-checked", "handle-error",
					"good")
			.forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(Faulty.class)
			.with("topic", topic)
			.with("spring.kafka.consumer.value-deserializer", FaultyDeserializer.class.getName())
			.with("kafka-queue.defaults.dispatch.max-in-flight", "2")
			.start()) {
			Map<String, DeadLetter> letters = DeadLetter.await(topic, 6)
				.stream()
				.collect(Collectors.toMap((letter) -> Objects.requireNonNull(letter.value()), (letter) -> letter));
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 7);
			Queue queue = app.queue("faulty");

			assertThat(letters).hasSize(6);
			assertLetter(letters, "decode-checked", "undecodable", 3);
			assertLetter(letters, "decode-error", "retries_exhausted", 3);
			assertLetter(letters, "filter-checked", "retries_exhausted", 3);
			assertLetter(letters, "filter-error", "retries_exhausted", 3);
			assertLetter(letters, "handle-checked", "retries_exhausted", 3);
			assertLetter(letters, "handle-error", "retries_exhausted", 3);
			assertThat(queue.outcomes().acknowledgedCount()).isOne();
			QueueApp.eventually().until(() -> queue.inFlight() == 0);
			assertThat(queue.bufferedBytes()).isZero();
			assertThat(queue.retryWaiting()).isZero();
			assertThat(queue.deadLettersWaiting()).isZero();
			assertThat(queue.state()).isEqualTo(QueueState.RUNNING);

			Broker.send(topic, null, "together");
			Broker.send(topic, null, "together");
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 9);
			assertThat(queue.outcomes().acknowledgedCount()).isEqualTo(3);
		}
	}

	@Test
	void X52_recordWhoseHandlerThrowsIsNeverSettledByThat() {
		String topic = Broker.newTopic("faults-x52", 1);
		Broker.send(topic, null, "bad");
		Broker.sendNumbers(topic, 1, 20);

		try (QueueApp app = QueueApp.of(Healing.class)
			.with("topic", topic)
			.with("healed", "false")
			.with("kafka-queue.defaults.dlq.enabled", "false")
			.with("kafka-queue.defaults.retry.local.max-interval", "20ms")
			.start()) {
			QueueApp.eventually().until(() -> app.queue("healing").outcomes().acknowledgedCount() == 20);
			QueueApp.eventually().until(() -> app.queue("healing").outcomes().retriedCount() >= 20);

			assertThat(app.queue("healing").outcomes().acknowledgedCount()).isEqualTo(20);
		}
		assertThat(Broker.committedOffset(topic, topic, 0)).isLessThanOrEqualTo(0);

		try (QueueApp app = QueueApp.of(Healing.class).with("topic", topic).with("healed", "true").start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 21);

			assertThat(app.queue("healing").outcomes().acknowledgedCount()).isOne();
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	@Test
	void X56_keyThatThrowsLeavesItsRecordsToTheCommonBreaker() {
		String topic = Broker.newTopic("faults-key", 1);

		try (QueueApp app = guarded(topic, ThrowingKey.class).start();
				LogLines lines = LogLines.of(Circuits.class.getName(), Level.WARN)) {
			for (int i = 0; i < 25; i++) {
				Stream.of("checked", "error", "hostile", "null").forEach((value) -> Broker.send(topic, null, value));
			}
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 100);

			assertThat(app.queue("healing").outcomes().acknowledgedCount()).isEqualTo(100);
			assertThat(app.queue("healing").outcomes().retriedCount()).isZero();
			assertThat(app.queue("healing").circuitStates()).extracting(CircuitState::name).containsExactly("healing");
			assertThat(lines.texts(Level.WARN)).hasSizeBetween(1, 3)
				.first()
				.asString()
				// Whichever of the records that run at one time comes first.
				.matches("(?s)Circuit breaker of " + topic + "-0@\\d+ could not be told, it depends on 'healing': .*")
				.doesNotContain("no key");
		}
	}

	@Test
	void X56_predicateAndEventConsumerThatThrowLoseNoRecord() {
		String topic = Broker.newTopic("faults-breaker", 1);

		try (QueueApp app = guarded(topic, ThrowingBreakers.class).start();
				LogLines lines = LogLines.of("io.queuestarter", Level.WARN)) {
			for (int i = 0; i < 100; i++) {
				Broker.send(topic, null, "once-" + i);
			}
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 100);

			assertThat(app.queue("healing").outcomes().acknowledgedCount()).isEqualTo(100);
			assertThat(app.queue("healing").outcomes().retriedCount()).isEqualTo(100);
			assertThat(app.queue("healing").circuitStates()).extracting(CircuitState::state).containsExactly("CLOSED");
			assertThat(app.queue("healing").state()).isEqualTo(QueueState.RUNNING);
			assertThat(lines.texts(Level.WARN)).hasSizeBetween(1, 3)
				.allSatisfy((line) -> assertThat(line).contains("could not take an outcome"));
		}
	}

	private static QueueApp.Builder guarded(String topic, Class<?> faults) {
		return QueueApp.of(Healing.class, faults)
			.with("topic", topic)
			.with("healed", "false")
			.with("kafka-queue.defaults.circuit-breaker.enabled", "true");
	}

	private static void assertLetter(Map<String, DeadLetter> letters, String value, String reason, int attempts) {
		DeadLetter letter = Objects.requireNonNull(letters.get(value));
		assertThat(letter.reason()).as(value).isEqualTo(reason);
		assertThat(letter.attempts()).as(value).isEqualTo(attempts);
	}

	/** Throws what the value names, if the value is meant for this stage. */
	private static void fault(String stage, String value) {
		if (value.equals(stage + "-checked")) {
			sneak(new IOException(value));
		}
		if (value.equals(stage + "-error")) {
			throw new AssertionError(value);
		}
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void sneak(Throwable error) throws E {
		throw (E) error;
	}

	/** Throws for some values. */
	public static final class FaultyDeserializer implements Deserializer<String> {

		@Override
		public @Nullable String deserialize(String topic, byte[] data) {
			String value = new String(data, StandardCharsets.UTF_8);
			fault("decode", value);
			return value;
		}

	}

	static class Faulty {

		private final CyclicBarrier barrier = new CyclicBarrier(2);

		@Autowired
		void filter(QueueListenerContainerFactory factory) {
			factory.setRecordFilterStrategy((record) -> {
				fault("filter", String.valueOf((Object) record.value()));
				return false;
			});
		}

		@QueueListener(id = "faulty", topics = "${topic}", groupId = "${topic}")
		void handle(String value) throws Exception {
			fault("handle", value);
			if (value.equals("together")) {
				this.barrier.await(20, TimeUnit.SECONDS);
			}
		}

	}

	static class Healing {

		private final Map<String, Boolean> failed = new ConcurrentHashMap<>();

		@Value("${healed}")
		boolean healed;

		@QueueListener(id = "healing", topics = "${topic}", groupId = "${topic}")
		void handle(String value) {
			boolean first = this.failed.put(value, true) == null;
			if (!this.healed && (value.equals("bad") || (value.startsWith("once") && first))) {
				throw new IllegalStateException("not yet");
			}
		}

	}

	static class ThrowingKey implements QueueCircuitKey {

		@Override
		public @Nullable String keyOf(String queue, ConsumerRecord<byte[], byte[]> record) {
			switch (new String(record.value(), StandardCharsets.UTF_8)) {
				case "checked" -> sneak(new IOException("no key"));
				case "error" -> throw new AssertionError("no key");
				case "hostile" -> throw new HostileException();
				default -> {
				}
			}
			return null;
		}

	}

	/** Throws when it is asked about itself. */
	static final class HostileException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		@Override
		public String getMessage() {
			throw new UnsupportedOperationException("no message");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ThrowingBreakers {

		@Bean
		CircuitBreakerRegistry circuitBreakers() {
			CircuitBreakerRegistry registry = CircuitBreakerRegistry.ofDefaults();
			registry.circuitBreaker("healing", CircuitBreakerConfig.custom().recordException((error) -> {
				throw new AssertionError("no verdict");
			}).build()).getEventPublisher().onEvent((event) -> sneak(new IOException("no event")));
			return registry;
		}

	}

}
