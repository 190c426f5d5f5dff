package io.queuestarter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.support.Acknowledgment;
import reactor.core.publisher.Mono;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.Queue;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Attempts that do not answer in time. Handlers block, or return results that never
 * complete, with a timeout of 200 ms: the attempt fails, its thread is interrupted, what
 * it says later changes nothing, and after the last attempt the record is a dead letter
 * that tells of the timeout. Nothing else of the queue notices.
 */
@Tag("threads")
class TimeoutTests {

	@Test
	void blockingHandlerIsInterruptedTriedAgainAndDeadLettered() {
		String topic = Broker.newTopic("timeout-blocking", 1);
		Broker.send(topic, null, "blocks");
		Broker.send(topic, null, "good");

		try (QueueApp app = app(Blocking.class, topic)) {
			Blocking handler = app.bean(Blocking.class);
			DeadLetter letter = DeadLetter.awaitOne(topic);
			awaitCommitted(topic, 2);

			assertThat(letter.reason()).isEqualTo("timeout");
			assertThat(letter.exception()).isEqualTo(TimeoutException.class.getName());
			assertThat(letter.attempts()).isEqualTo(3);
			QueueApp.eventually().until(() -> handler.interrupted.size() == 3);
			assertThat(handler.interrupted).containsExactly("attempt 1 cancelled true", "attempt 2 cancelled true",
					"attempt 3 cancelled true");
			assertThat(app.queue("timeout").outcomes().timedOutCount()).isEqualTo(3);
			QueueApp.eventually().until(() -> app.queue("timeout").inFlight() == 0);
		}
	}

	@Test
	void lateResultChangesNothingAndIsCounted() {
		String topic = Broker.newTopic("timeout-late", 1);
		Broker.send(topic, null, "deaf");

		try (QueueApp app = app(Blocking.class, topic)) {
			Blocking handler = app.bean(Blocking.class);
			QueueApp.eventually().until(() -> app.queue("timeout").outcomes().timedOutCount() == 1);
			QueueApp.eventually().until(() -> handler.seen.size() == 2);
			awaitCommitted(topic, 1);

			assertThat(app.queue("timeout").outcomes().acknowledgedCount()).isOne();
			assertThat(app.queue("timeout").outcomes().lateCount()).isZero();

			handler.release.countDown();
			QueueApp.eventually().until(() -> app.queue("timeout").outcomes().lateCount() == 1);
			QueueApp.eventually().until(() -> app.queue("timeout").inFlight() == 0);
			assertThat(app.queue("timeout").outcomes().acknowledgedCount()).isOne();
			assertThat(handler.seen).containsExactly("deaf", "deaf");
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	/*
	 * X45: one result of a hundred is lost. Its record must not keep its slot, which with
	 * one slot would be the end of the queue.
	 */
	@Test
	void X45_resultThatNeverCompletesFreesItsSlot() {
		String topic = Broker.newTopic("timeout-x45", 1);
		Broker.send(topic, null, "lost");
		Broker.sendNumbers(topic, 1, 99);

		try (QueueApp app = QueueApp.of(NeverCompleting.class)
			.with("topic", topic)
			.with("kafka-queue.defaults.timeout.initial", "200ms")
			.with("kafka-queue.defaults.dispatch.max-in-flight", 1)
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			awaitCommitted(topic, 100);

			assertThat(letter.value()).isEqualTo("lost");
			assertThat(letter.reason()).isEqualTo("timeout");
			assertThat(letter.attempts()).isEqualTo(3);
			assertThat(app.queue("timeout").outcomes().acknowledgedCount()).isEqualTo(99);
			assertThat(app.queue("timeout").inFlight()).isZero();
			NeverCompleting handler = app.bean(NeverCompleting.class);
			QueueApp.eventually().until(() -> handler.lost.stream().allMatch(CompletableFuture::isCancelled));
			assertThat(handler.lost).hasSize(3);
		}
	}

	/*
	 * X45: one of a hundred is never acknowledged. The others are, the view tells what
	 * holds the watermark and for how long, and after its timeouts it is out of the way.
	 */
	@Test
	void X45_acknowledgmentThatNeverComesIsSeenAndTimesOut() {
		String topic = Broker.newTopic("timeout-x45-ack", 1);
		Broker.sendNumbers(topic, 1, 5);
		Broker.send(topic, null, "lost");
		Broker.sendNumbers(topic, 1, 94);

		try (QueueApp app = QueueApp.of(NeverAcknowledging.class)
			.with("topic", topic)
			.with("kafka-queue.defaults.timeout.initial", "1s")
			.with("kafka-queue.defaults.timeout.max", "1s")
			.start()) {
			Queue queue = app.queue("timeout");
			QueueApp.eventually().until(() -> queue.outcomes().acknowledgedCount() == 99);
			QueueApp.eventually().until(() -> queue.headAge().compareTo(Duration.ofMillis(100)) > 0);
			assertThat(queue.partitions()).singleElement().extracting(PartitionView::head).satisfies((head) -> {
				assertThat(head).isNotNull();
				assertThat(head.offset()).isEqualTo(5);
			});

			DeadLetter letter = DeadLetter.awaitOne(topic);
			awaitCommitted(topic, 100);
			assertThat(letter.value()).isEqualTo("lost");
			assertThat(letter.reason()).isEqualTo("timeout");
			assertThat(queue.outcomes().timedOutCount()).isEqualTo(3);
			assertThat(queue.outcomes().acknowledgedCount()).isEqualTo(99);
			assertThat(queue.inFlight()).isZero();
			QueueApp.eventually().until(() -> queue.headAge().isZero());
		}
	}

	/*
	 * Cancelling a result runs whatever the application hung on it. If that blocks or
	 * throws, other attempts must time out all the same.
	 */
	@Test
	void cancellationThatBlocksOrThrowsStopsNoOtherTimeout() {
		String topic = Broker.newTopic("timeout-cancel", 1);
		List.of("throws", "blocks", "lost").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = app(HardToCancel.class, topic)) {
			List<DeadLetter> letters = DeadLetter.await(topic, 3);
			awaitCommitted(topic, 3);

			assertThat(letters).extracting(DeadLetter::reason).containsExactly("timeout", "timeout", "timeout");
			QueueApp.eventually()
				.until(() -> app.bean(HardToCancel.class).cancelled.keySet().containsAll(List.of("throws", "blocks")));
			app.bean(HardToCancel.class).release.countDown();
		}
	}

	private static QueueApp app(Class<?> handler, String topic) {
		return QueueApp.of(handler).with("topic", topic).with("kafka-queue.defaults.timeout.initial", "200ms").start();
	}

	private static void awaitCommitted(String topic, long offset) {
		QueueApp.eventually().until(() -> Broker.committedOffset("timeouts", topic, 0) == offset);
	}

	static class Blocking {

		final CountDownLatch release = new CountDownLatch(1);

		final List<String> interrupted = new CopyOnWriteArrayList<>();

		final List<String> seen = new CopyOnWriteArrayList<>();

		@QueueListener(id = "timeout", topics = "${topic}", groupId = "timeouts")
		void handle(String value, QueueContext context) throws InterruptedException {
			this.seen.add(value);
			if (value.equals("blocks")) {
				try {
					this.release.await();
				}
				catch (InterruptedException ex) {
					this.interrupted.add("attempt " + context.attempt() + " cancelled " + context.isCancelled());
					throw ex;
				}
			}
			if (value.equals("deaf") && context.attempt() == 1) {
				awaitUninterruptibly();
			}
		}

		private void awaitUninterruptibly() {
			while (this.release.getCount() > 0) {
				try {
					this.release.await(20, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					// Deaf.
				}
			}
		}

	}

	static class NeverAcknowledging {

		@QueueListener(id = "timeout", topics = "${topic}", groupId = "timeouts")
		void handle(String value, Acknowledgment acknowledgment) {
			if (!value.equals("lost")) {
				ForkJoinPool.commonPool().execute(acknowledgment::acknowledge);
			}
		}

	}

	static class NeverCompleting {

		final List<CompletableFuture<String>> lost = new CopyOnWriteArrayList<>();

		@QueueListener(id = "timeout", topics = "${topic}", groupId = "timeouts")
		CompletableFuture<String> handle(String value) {
			if (!value.equals("lost")) {
				return CompletableFuture.completedFuture(value);
			}
			CompletableFuture<String> result = new CompletableFuture<>();
			this.lost.add(result);
			return result;
		}

	}

	static class HardToCancel {

		final Map<String, Boolean> cancelled = new ConcurrentHashMap<>();

		final CountDownLatch release = new CountDownLatch(1);

		@QueueListener(id = "timeout", topics = "${topic}", groupId = "timeouts")
		Mono<Void> handle(String value) {
			return Mono.<Void>never().doOnCancel(() -> cancel(value));
		}

		private void cancel(String value) {
			this.cancelled.put(value, true);
			if (value.equals("throws")) {
				throw new IllegalStateException("in cancellation");
			}
			if (value.equals("blocks")) {
				try {
					this.release.await(20, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}
		}

	}

}
