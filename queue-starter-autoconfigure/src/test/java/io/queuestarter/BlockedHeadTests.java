package io.queuestarter;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One record keeps the window of its partition from moving on, by running for ever or by
 * failing again and again. It is moved aside, and the partition flows.
 */
@Tag("threads")
class BlockedHeadTests {

	@ParameterizedTest
	@ValueSource(strings = { "hangs", "fails" })
	void recordThatHoldsAFullWindowIsDeadLettered(String how) {
		String topic = Broker.newTopic("blocked", 1);
		Broker.send(topic, null, how);
		Broker.sendNumbers(topic, 1, 500);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.head.ledger.capacity", "100")
			.with("kafka-queue.listeners.head.timeout.initial", "4s")
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 501);

			assertThat(letter.value()).isEqualTo(how);
			assertThat(letter.reason()).isEqualTo("hol_cancel");
			assertThat(app.queue("head").outcomes().cancelledCount()).isOne();
			assertThat(app.queue("head").outcomes().acknowledgedCount()).isEqualTo(500);
			QueueApp.eventually().until(() -> app.queue("head").inFlight() == 0);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "hangs", "fails" })
	void recordThatHoldsTheWatermarkForTooLongIsDeadLettered(String how) {
		String topic = Broker.newTopic("old", 1);
		Broker.send(topic, null, how);
		Broker.sendNumbers(topic, 1, 20);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.head.blocking.max-head-age", "1s")
			.with("kafka-queue.listeners.head.timeout.initial", "500ms")
			.with("kafka-queue.listeners.head.timeout.max-count", "1000000")
			.start()) {
			QueueApp.eventually().until(() -> DeadLetter.count(topic + "-dlq") == 1 || trickle(topic));

			assertThat(DeadLetter.awaitOne(topic).reason()).isEqualTo("hol_cancel");
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) > 20);
		}
	}

	/** Goes on sending, as a topic in use does. */
	private static boolean trickle(String topic) {
		Broker.send(topic, null, "next");
		return false;
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Head.class)
			.with("topic", topic)
			.with("kafka-queue.listeners.head.blocking.enabled", "true")
			.with("kafka-queue.listeners.head.dispatch.max-in-flight", "4")
			.with("kafka-queue.listeners.head.retry.local.max-attempts", "1000000")
			.with("kafka-queue.listeners.head.retry.local.max-interval", "20ms");
	}

	static class Head {

		final Hold hold = new Hold();

		@QueueListener(id = "head", topics = "${topic}", groupId = "${topic}")
		void handle(ConsumerRecord<String, String> record) throws InterruptedException {
			if (record.value().equals("hangs")) {
				this.hold.await();
			}
			if (record.value().equals("fails")) {
				throw new IllegalStateException("always");
			}
		}

	}

}
