package io.queuestarter;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.settle.Outcomes;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that run on although their attempt was cancelled.
 */
@Tag("threads")
class OverstayTests {

	@Test
	void H5_placesOfHandlersThatIgnoreTheInterruptGoToOthersUpToALimit() {
		String topic = Broker.newTopic("stubborn", 1);
		Broker.sendNumbers(topic, 1, 20);

		try (QueueApp app = QueueApp.of(Stubborn.class)
			.with("topic", topic)
			.with("kafka-queue.listeners.stubborn.dispatch.max-in-flight", "2")
			.with("kafka-queue.listeners.stubborn.dispatch.max-leaked", "1")
			.with("kafka-queue.listeners.stubborn.timeout.initial", "200ms")
			.with("kafka-queue.listeners.stubborn.timeout.grace", "100ms")
			.with("kafka-queue.listeners.stubborn.retry.local.max-attempts", "1000")
			.with("kafka-queue.listeners.stubborn.timeout.max-count", "1000")
			.with("kafka-queue.defaults.shutdown.drain-timeout", "0")
			.start()) {
			Stubborn handler = app.bean(Stubborn.class);

			QueueApp.eventually().until(() -> app.queue("stubborn").leaked() == 1);
			QueueApp.eventually().until(() -> handler.running.get() == 3);
			handler.hold.release();

			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 20);
			assertThat(handler.most.get()).as("bodies at one time").isEqualTo(3);
			QueueApp.eventually().until(() -> app.queue("stubborn").leaked() == 0);
			QueueApp.eventually().until(() -> app.queue("stubborn").inFlight() == 0);
			assertThat(app.queue("stubborn").outcomes().lateCount()).isPositive();
			assertThat(app.queue("stubborn").outcomes().acknowledgedCount()).isEqualTo(20);
		}
	}

	/*
	 * There is one place, and the handler that has answered and hangs keeps it until its
	 * grace is over. Its record is settled all the while.
	 */
	@Test
	void handlerThatHasAnsweredAndHangsIsCancelledAndItsPlaceGoesToAnother() {
		String topic = Broker.newTopic("answered", 1);
		Broker.sendNumbers(topic, 1, 20);

		try (QueueApp app = QueueApp.of(Answering.class)
			.with("topic", topic)
			.with("kafka-queue.listeners.answering.dispatch.max-in-flight", "1")
			.with("kafka-queue.listeners.answering.dispatch.max-leaked", "1")
			.with("kafka-queue.listeners.answering.timeout.initial", "500ms")
			.with("kafka-queue.listeners.answering.timeout.grace", "100ms")
			.start()) {
			Answering handler = app.bean(Answering.class);

			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 20);
			assertThat(app.queue("answering").leaked()).isOne();
			assertThat(handler.hanging).singleElement().matches(QueueContext::isCancelled);
			handler.hold.release();

			QueueApp.eventually().until(() -> app.queue("answering").leaked() == 0);
			assertThat(handler.runs).hasValue(20);
			Outcomes outcomes = app.queue("answering").outcomes();
			assertThat(outcomes.acknowledgedCount()).isEqualTo(20);
			assertThat(outcomes.timedOutCount()).isZero();
			assertThat(outcomes.retriedCount()).isZero();
			assertThat(outcomes.lateCount()).isZero();
		}
	}

	static class Answering {

		final Hold hold = new Hold();

		final AtomicInteger runs = new AtomicInteger();

		final BlockingQueue<QueueContext> hanging = new LinkedBlockingQueue<>();

		@QueueListener(id = "answering", topics = "${topic}", groupId = "${topic}")
		void handle(String value, QueueContext context) {
			this.runs.incrementAndGet();
			if (value.equals("0")) {
				this.hanging.add(context);
				context.ack();
				this.hold.awaitStubbornly();
			}
		}

	}

	static class Stubborn {

		final Hold hold = new Hold();

		final AtomicInteger running = new AtomicInteger();

		final AtomicInteger most = new AtomicInteger();

		@QueueListener(id = "stubborn", topics = "${topic}", groupId = "${topic}")
		void handle(String value) {
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			try {
				this.hold.awaitStubbornly();
			}
			finally {
				this.running.decrementAndGet();
			}
		}

	}

}
