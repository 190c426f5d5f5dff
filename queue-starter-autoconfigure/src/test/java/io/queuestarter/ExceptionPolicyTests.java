package io.queuestarter;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.container.QueueSettings.Origin;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.outage.CircuitState;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The developer says which exceptions are worth another attempt. The others dead-letter
 * their record after one attempt, also alone in its queue and during an outage.
 */
@Tag("threads")
class ExceptionPolicyTests {

	@Test
	void exceptionsOfTheAnnotationDecide() {
		String topic = Broker.newTopic("policy", 1);
		Stream.of("io", "missing", "wrapped-missing", "state", "good")
			.forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = app(topic).start()) {
			Map<String, DeadLetter> letters = byValue(DeadLetter.await(topic, 4));
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 5);

			assertLetter(letters, "io", "retries_exhausted", 3);
			assertLetter(letters, "missing", "not_retryable", 1);
			assertLetter(letters, "wrapped-missing", "not_retryable", 1);
			assertLetter(letters, "state", "not_retryable", 1);
			assertThat(letters).hasSize(4);
			assertThat(app.queue("choosy").deadLettered(DeadLetterReason.NOT_RETRYABLE)).isEqualTo(3);
			assertThat(app.bean(Choosy.class).calls).containsEntry("good", 1);
		}
	}

	@Test
	void exceptionsOfThePropertiesBeatTheAnnotation() {
		String topic = Broker.newTopic("policy-properties", 1);
		Stream.of("io", "missing", "state").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.choosy.retry.retry-for", "")
			.with("kafka-queue.listeners.choosy.retry.dlq-for", IllegalStateException.class.getName())
			.start()) {
			Map<String, DeadLetter> letters = byValue(DeadLetter.await(topic, 3));

			assertLetter(letters, "io", "retries_exhausted", 3);
			assertLetter(letters, "missing", "retries_exhausted", 3);
			assertLetter(letters, "state", "not_retryable", 1);
			Map<String, Origin> settings = app.queue("choosy").settings().origins();
			assertThat(settings.get("retry.retry-for")).extracting(Origin::value).isEqualTo("[]");
			assertThat(settings.get("retry.dlq-for")).extracting(Origin::value)
				.isEqualTo("[java.lang.IllegalStateException]");
		}
	}

	@Test
	void timeoutsAndWishesOfTheHandlerAreTriedAgainWhateverIsSaid() {
		String topic = Broker.newTopic("policy-exempt", 1);
		Stream.of("hangs", "asks", "asks-by-context").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.choosy.timeout.initial", "200ms").start()) {
			Choosy handler = app.bean(Choosy.class);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 3);

			assertThat(handler.calls).containsOnly(Map.entry("hangs", 2), Map.entry("asks", 2),
					Map.entry("asks-by-context", 2));
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	/*
	 * With the settings of production: no record succeeds, the failure budget has no free
	 * token, and the breaker would open after 20 failures.
	 */
	@Test
	void verdictNeedsNoEvidenceAndNoBudgetAndDoesNotOpenTheBreaker() {
		String topic = Broker.newTopic("policy-verdict", 1);
		for (int i = 0; i < 200; i++) {
			Broker.send(topic, null, "state");
		}

		try (QueueApp app = app(topic).with("kafka-queue.defaults.circuit-breaker.enabled", "true")
			.with("kafka-queue.defaults.dlq.budget.patience", "1h")
			.with("kafka-queue.defaults.dlq.budget.free", "0")
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 200);

			assertThat(app.queue("choosy").deadLettered(DeadLetterReason.NOT_RETRYABLE)).isEqualTo(200);
			assertThat(app.queue("choosy").outcomes().retriedCount()).isZero();
			assertThat(app.queue("choosy").circuitStates()).extracting(CircuitState::state).containsExactly("CLOSED");
		}
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Choosy.class).with("topic", topic);
	}

	private static Map<String, DeadLetter> byValue(List<DeadLetter> letters) {
		return letters.stream()
			.collect(Collectors.toMap((letter) -> Objects.requireNonNull(letter.value()), (letter) -> letter));
	}

	private static void assertLetter(Map<String, DeadLetter> letters, String value, String reason, int attempts) {
		DeadLetter letter = Objects.requireNonNull(letters.get(value));
		assertThat(letter.reason()).as(value).isEqualTo(reason);
		assertThat(letter.attempts()).as(value).isEqualTo(attempts);
	}

	static class Choosy {

		final Map<String, Integer> calls = new ConcurrentHashMap<>();

		@QueueListener(id = "choosy", topics = "${topic}", groupId = "${topic}", retryFor = IOException.class,
				dlqFor = FileNotFoundException.class)
		@Nullable CompletableFuture<Void> handle(String value, QueueContext context) throws Exception {
			this.calls.merge(value, 1, Integer::sum);
			switch (value) {
				case "io" -> throw new IOException("down");
				case "missing" -> throw new FileNotFoundException("gone");
				case "wrapped-missing" -> {
					return CompletableFuture.failedFuture(new UncheckedIOException(new FileNotFoundException("gone")));
				}
				case "state" -> throw new IllegalStateException("wrong");
				case "hangs", "asks", "asks-by-context" -> {
					if (context.attempt() == 1) {
						return again(value, context);
					}
				}
				default -> {
				}
			}
			return CompletableFuture.completedFuture(null);
		}

		private static CompletableFuture<Void> again(String value, QueueContext context) {
			if (value.equals("asks")) {
				throw new QueueRetryException(Duration.ofMillis(1), new IllegalStateException("busy"));
			}
			if (value.equals("asks-by-context")) {
				context.retryAfter(Duration.ofMillis(1));
			}
			return new CompletableFuture<>();
		}

	}

}
