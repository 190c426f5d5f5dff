package io.queuestarter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Attempts in memory. A handler fails; the record comes again after a back-off or the
 * delay that the handler asked for, with the next number, until it succeeds or its
 * attempts are used up. Meanwhile it stands in nobody's way.
 */
class RetryTests {

	@Test
	void attemptsAreNumberedAndTheSuccessfulOneSettles() {
		String topic = Broker.newTopic("retry-numbers", 1);
		Broker.send(topic, null, "3");

		try (QueueApp app = app(topic).start()) {
			awaitCommitted(topic, 1);

			assertThat(app.bean(Retrying.class).attempts.get("3")).containsExactly(1, 2, 3);
			assertThat(app.queue("retrying").outcomes().retriedCount()).isEqualTo(2);
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	@Test
	void recordIsDeadLetteredWhenItsAttemptsAreUsedUp() {
		String topic = Broker.newTopic("retry-exhausted", 1);
		Broker.send(topic, null, "9");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.retrying.retry.local.max-attempts", 5).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			awaitCommitted(topic, 1);

			assertThat(letter.attempts()).isEqualTo(5);
			assertThat(letter.reason()).isEqualTo("retries_exhausted");
			assertThat(app.bean(Retrying.class).attempts.get("9")).containsExactly(1, 2, 3, 4, 5);
		}
	}

	@Test
	void delayOfTheExceptionIsKept() {
		String topic = Broker.newTopic("retry-delay", 1);
		Broker.send(topic, null, "delayed");

		try (QueueApp app = app(topic).start()) {
			awaitCommitted(topic, 1);

			List<Long> times = app.bean(Retrying.class).times;
			assertThat(times).hasSize(2);
			assertThat(Duration.ofNanos(times.get(1) - times.get(0))).isBetween(Duration.ofMillis(500),
					Duration.ofSeconds(10));
		}
	}

	/*
	 * One slot, and room for one waiting record: three records in back-off would fill
	 * both if they held either.
	 */
	@Test
	void recordInBackoffHoldsNeitherWorkerNorIntake() {
		String topic = Broker.newTopic("retry-aside", 1);
		Stream.of("hour", "hour", "hour").forEach((value) -> Broker.send(topic, null, value));
		Broker.sendNumbers(topic, 1, 2);
		Broker.sendNumbers(topic, 1, 2);

		try (QueueApp app = app(topic).with("kafka-queue.defaults.dispatch.max-in-flight", 1)
			.with("kafka-queue.defaults.buffer.max-records", 1)
			.start()) {
			QueueApp.eventually().until(() -> app.queue("retrying").outcomes().acknowledgedCount() == 4);

			assertThat(app.queue("retrying").retryWaiting()).isEqualTo(3);
			assertThat(app.queue("retrying").inFlight()).isZero();
			assertThat(app.queue("retrying").buffered()).isZero();
			assertThat(Broker.committedOffset("retries", topic, 0)).isLessThanOrEqualTo(0);
		}
	}

	/*
	 * X56: what a handler asks for may be nonsense. A delay too long to count in
	 * nanoseconds must not lose the record between two states.
	 */
	@Test
	void X56_delayWithoutEndIsADelay() {
		String topic = Broker.newTopic("retry-forever", 1);
		Broker.send(topic, null, "forever");
		Broker.send(topic, null, "forever-by-context");
		Broker.send(topic, null, "1");

		try (QueueApp app = app(topic).start()) {
			QueueApp.eventually().until(() -> app.queue("retrying").outcomes().acknowledgedCount() == 1);
			QueueApp.eventually().until(() -> app.queue("retrying").retryWaiting() == 2);

			assertThat(app.queue("retrying").inFlight()).isZero();
			assertThat(app.queue("retrying").outcomes().retriedCount()).isEqualTo(2);
		}

		try (QueueApp app = app(topic).with("patient", false).start()) {
			awaitCommitted(topic, 3);

			assertThat(app.bean(Retrying.class).attempts).containsOnlyKeys("forever", "forever-by-context");
		}
	}

	@Test
	void X56_delayThatIsMissingIsAnOrdinaryFailure() {
		String topic = Broker.newTopic("retry-null", 1);
		Broker.send(topic, null, "null");
		Broker.send(topic, null, "negative");

		try (QueueApp app = app(topic).start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 2);
			awaitCommitted(topic, 2);

			assertThat(letters).extracting(DeadLetter::attempts).containsExactly(3, 3);
			assertThat(app.queue("retrying").retryWaiting()).isZero();
		}
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Retrying.class).with("topic", topic).with("patient", true);
	}

	private static void awaitCommitted(String topic, long offset) {
		QueueApp.eventually().until(() -> Broker.committedOffset("retries", topic, 0) == offset);
	}

	static class Retrying {

		final Map<String, List<Integer>> attempts = new ConcurrentHashMap<>();

		final List<Long> times = new CopyOnWriteArrayList<>();

		@Value("${patient}")
		boolean patient;

		@QueueListener(id = "retrying", topics = "${topic}", groupId = "retries")
		void handle(String value, QueueContext context) {
			this.attempts.computeIfAbsent(value, (key) -> new ArrayList<>()).add(context.attempt());
			this.times.add(System.nanoTime());
			switch (value) {
				case "delayed" -> {
					if (context.attempt() == 1) {
						throw new QueueRetryException(Duration.ofMillis(500));
					}
				}
				case "hour" -> context.retryAfter(Duration.ofHours(1));
				case "forever" -> {
					if (this.patient) {
						throw new QueueRetryException(Duration.ofSeconds(Long.MAX_VALUE));
					}
				}
				case "forever-by-context" -> {
					if (this.patient) {
						context.retryAfter(Duration.ofSeconds(Long.MAX_VALUE));
					}
				}
				case "null" -> throw new NoDelay();
				case "negative" -> context.retryAfter(Duration.ofSeconds(-1));
				default -> {
					if (context.attempt() < Integer.parseInt(value)) {
						throw new IllegalStateException("attempt " + context.attempt());
					}
				}
			}
		}

	}

	/** Asks for nothing in particular. */
	static final class NoDelay extends QueueRetryException {

		private static final long serialVersionUID = 1L;

		@SuppressWarnings("NullAway")
		NoDelay() {
			super(null);
		}

	}

}
