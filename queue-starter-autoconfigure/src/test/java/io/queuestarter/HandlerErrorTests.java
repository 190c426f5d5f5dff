package io.queuestarter;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

import io.queuestarter.container.QueueState;
import io.queuestarter.observe.QueuesHealth;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that end in other ways than with an exception one expects: errors, checked
 * exceptions nobody declared, interrupts, exceptions that cannot be described. Each is a
 * failed attempt; no worker, slot or record is lost over it. Only when memory runs out
 * nothing is concluded: the queue stops, and the next application gets the record.
 */
@Tag("threads")
class HandlerErrorTests {

	@Test
	void H2_everyErrorIsAFailedAttemptAndAllSlotsRemain() {
		String topic = Broker.newTopic("errors-h2", 2);
		Broker.sendNumbers(topic, 2, 500);

		try (QueueApp app = QueueApp.of(Failing.class)
			.with("topic", topic)
			.with("kafka-queue.defaults.dispatch.max-in-flight", 8)
			.with("kafka-queue.defaults.retry.local.max-attempts", 1)
			.start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 500);
			QueueApp.eventually().until(() -> Broker.committedSum("errors", topic) == 500);

			assertThat(letters).hasSize(500);
			for (Class<?> type : List.of(StackOverflowError.class, NoClassDefFoundError.class,
					ExceptionInInitializerError.class, AssertionError.class, IOException.class)) {
				assertThat(letters).filteredOn((letter) -> letter.exception().equals(type.getName())).hasSize(100);
			}
			assertThat(app.queue("failing").outcomes().acknowledgedCount()).isZero();
			assertThat(app.queue("failing").inFlight()).isZero();

			for (int i = 0; i < 8; i++) {
				Broker.send(topic, null, "together");
			}
			QueueApp.eventually().until(() -> Broker.committedSum("errors", topic) == 508);
			assertThat(app.bean(Failing.class).met).isEqualTo(8);
		}
	}

	@Test
	void H2_outOfMemoryStopsTheQueueAndLeavesTheRecordToTheNextApplication() {
		String topic = Broker.newTopic("errors-memory", 1);
		Broker.send(topic, null, "before");

		try (QueueApp app = QueueApp.of(Memory.class).with("topic", topic).with("exhausted", true).start()) {
			Memory handler = app.bean(Memory.class);
			QueueApp.eventually().until(() -> Broker.committedOffset("errors-memory", topic, 0) == 1);
			Broker.send(topic, null, "memory");
			QueueApp.eventually().until(() -> handler.seen.contains("memory"));
			Broker.send(topic, null, "behind");

			QueueApp.eventually().until(() -> app.queue("memory").state() == QueueState.FAILED);
			HealthIndicator health = (HealthIndicator) app.bean(QueuesHealth.class).getContributor("memory");
			assertThat(health).isNotNull();
			Health told = health.health();
			assertThat(told).isNotNull();
			assertThat(told.getStatus()).isEqualTo(Status.DOWN);
			assertThat(told.getDetails()).containsEntry("failure", OutOfMemoryError.class.getName());
			QueueApp.eventually().until(() -> app.queue("memory").partitions().isEmpty());
			assertThat(handler.seen).doesNotContain("behind");
		}
		assertThat(Broker.committedOffset("errors-memory", topic, 0)).isOne();
		assertThat(DeadLetter.count(topic + "-dlq")).isZero();

		try (QueueApp app = QueueApp.of(Memory.class).with("topic", topic).with("exhausted", false).start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset("errors-memory", topic, 0) == 3);

			assertThat(app.bean(Memory.class).seen).containsExactlyInAnyOrder("memory", "behind");
		}
	}

	@Test
	void H3_interruptOfAHandlerReachesNoOtherRecord() {
		String topic = Broker.newTopic("errors-h3", 1);
		Stream.of("interrupts-itself", "throws-interrupted", "looks")
			.forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(Interrupting.class)
			.with("topic", topic)
			.with("kafka-queue.defaults.dispatch.max-in-flight", 1)
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset("errors-h3", topic, 0) == 3);

			assertThat(letter.value()).isEqualTo("throws-interrupted");
			assertThat(letter.exception()).isEqualTo(InterruptedException.class.getName());
			assertThat(app.queue("interrupting").outcomes().acknowledgedCount()).isEqualTo(2);
			assertThat(app.queue("interrupting").state()).isEqualTo(QueueState.RUNNING);
			assertThat(app.bean(Interrupting.class).flags).hasSize(5).containsOnly(false);
		}
	}

	@Test
	void exceptionThatCannotBeDescribedIsDeadLettered() {
		String topic = Broker.newTopic("errors-hostile", 1);
		Stream.of("message", "message-error", "cause", "trace").forEach((value) -> Broker.send(topic, null, value));
		Broker.send(topic, null, "good");

		try (QueueApp app = QueueApp.of(Hostile.class)
			.with("topic", topic)
			.with("logging.level.io.queuestarter.settle", "debug")
			.with("kafka-queue.defaults.timeout.initial", "10s")
			.start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 4);
			QueueApp.eventually().until(() -> Broker.committedOffset("errors-hostile", topic, 0) == 5);

			assertThat(letters).hasSize(4).allSatisfy((letter) -> {
				assertThat(letter.exception()).isEqualTo(HostileException.class.getName());
				assertThat(letter.reason()).isEqualTo("retries_exhausted");
				assertThat(letter.attempts()).isEqualTo(3);
			});
			assertThat(app.queue("hostile").retryWaiting()).isZero();
			assertThat(app.queue("hostile").deadLettersWaiting()).isZero();
		}
		finally {
			// Log levels are the JVM's, not the application's.
			QueueApp.of(Hostile.class)
				.with("topic", topic)
				.with("logging.level.io.queuestarter.settle", "info")
				.start()
				.close();
		}
	}

	static class Failing {

		private final CyclicBarrier barrier = new CyclicBarrier(8);

		private volatile int met;

		@QueueListener(id = "failing", topics = "${topic}", groupId = "errors")
		void handle(String value) throws Exception {
			if (value.equals("together")) {
				this.barrier.await(20, TimeUnit.SECONDS);
				synchronized (this) {
					this.met++;
				}
				return;
			}
			switch (Integer.parseInt(value) % 5) {
				case 0 -> recurse(1);
				case 1 -> throw new NoClassDefFoundError("com/acme/Missing");
				case 2 -> throw new ExceptionInInitializerError(new IllegalStateException("static"));
				case 3 -> throw new AssertionError("assertion");
				default -> sneak(new IOException("sneaky"));
			}
		}

		@SuppressWarnings("InfiniteRecursion")
		private int recurse(int depth) {
			return recurse(depth + 1) + 1;
		}

		@SuppressWarnings("unchecked")
		private static <E extends Throwable> void sneak(Throwable error) throws E {
			throw (E) error;
		}

	}

	static class Memory {

		final List<String> seen = new CopyOnWriteArrayList<>();

		@Value("${exhausted}")
		boolean exhausted;

		@QueueListener(id = "memory", topics = "${topic}", groupId = "errors-memory")
		void handle(String value) {
			this.seen.add(value);
			if (value.equals("memory") && this.exhausted) {
				throw new OutOfMemoryError("as if");
			}
		}

	}

	static class Interrupting {

		final List<Boolean> flags = new CopyOnWriteArrayList<>();

		@QueueListener(id = "interrupting", topics = "${topic}", groupId = "errors-h3")
		void handle(String value) throws InterruptedException {
			this.flags.add(Thread.currentThread().isInterrupted());
			if (value.equals("interrupts-itself")) {
				Thread.currentThread().interrupt();
			}
			else if (value.equals("throws-interrupted")) {
				Thread.currentThread().interrupt();
				new CountDownLatch(1).await();
			}
		}

	}

	static class Hostile {

		@QueueListener(id = "hostile", topics = "${topic}", groupId = "errors-hostile")
		void handle(String value) {
			if (!value.equals("good")) {
				throw new HostileException(value);
			}
		}

	}

	/** Throws when it is asked about itself. */
	static final class HostileException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final String part;

		HostileException(String part) {
			this.part = part;
		}

		@Override
		public String getMessage() {
			return switch (this.part) {
				case "message" -> throw new UnsupportedOperationException("no message");
				case "message-error" -> throw new StackOverflowError("message of a message");
				default -> "message";
			};
		}

		@Override
		public synchronized @Nullable Throwable getCause() {
			if (this.part.equals("cause")) {
				throw new UnsupportedOperationException("no cause");
			}
			return super.getCause();
		}

		@Override
		public void printStackTrace(PrintWriter writer) {
			if (this.part.equals("trace")) {
				throw new StackOverflowError("no trace");
			}
			super.printStackTrace(writer);
		}

	}

}
