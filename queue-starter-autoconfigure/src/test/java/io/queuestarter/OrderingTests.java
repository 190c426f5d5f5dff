package io.queuestarter;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * With {@code ordering: key} records of a key of a partition run one after the other, in
 * the order of their offsets; with {@code partition} those of a partition do.
 */
@Tag("threads")
class OrderingTests {

	@Test
	void recordsOfAKeyRunInOrderAndOneAtATimeAndThoseOfOtherKeysBesideThem() {
		String topic = Broker.newTopic("ordered", 2);
		for (int number = 0; number < 400; number++) {
			Broker.send(topic, "key-" + number % 7, (number % 5 == 0) ? "fails once " + number : "order " + number);
		}

		try (QueueApp app = app("key", topic).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 400);

			handler.assertOrdered((record) -> record.partition() + record.key());
			assertThat(handler.most).hasValueGreaterThan(1);
			QueueApp.eventually().until(() -> app.queue("ordered").waitingForTurn() == 0);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 400);
		}
	}

	@Test
	void recordsOfAPartitionRunInOrderAndPartitionsBesideEachOther() {
		String topic = Broker.newTopic("ordered-partition", 3);
		for (int number = 0; number < 150; number++) {
			Broker.send(new ProducerRecord<>(topic, number % 3, null, Broker.bytes("order " + number)));
		}

		try (QueueApp app = app("partition", topic).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 150);

			handler.assertOrdered((record) -> "" + record.partition());
			assertThat(handler.most.get()).isBetween(2, 3);
		}
	}

	@Test
	void X64_failingRecordHoldsItsKeyThroughItsAttemptsUntilItIsDeadLettered() {
		String topic = Broker.newTopic("ordered-retry", 1);
		Broker.send(topic, "a", "bad");
		Broker.send(topic, "a", "behind");
		Broker.send(topic, "b", "other");

		try (QueueApp app = app("key", topic)
			.with("kafka-queue.listeners.ordered.retry.local.initial-interval", "300ms")
			.with("kafka-queue.listeners.ordered.retry.local.max-interval", "300ms")
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.contains("behind"));

			assertThat(handler.calls).filteredOn((call) -> !call.equals("other"))
				.containsExactly("bad", "bad", "bad", "behind");
			assertThat(handler.calls.indexOf("other")).isLessThan(handler.calls.size() - 1);
			assertThat(DeadLetter.awaitOne(topic).value()).isEqualTo("bad");
		}
	}

	@Test
	void X62_recordsWithoutAKeyDoNotWait() {
		String topic = Broker.newTopic("ordered-null", 1);
		for (int number = 0; number < 4; number++) {
			Broker.send(topic, null, "held " + number);
		}

		try (QueueApp app = app("key", topic).start()) {
			Handler handler = app.bean(Handler.class);
			handler.hold.awaitArrived(4);
			handler.hold.release();
			QueueApp.eventually().until(() -> handler.handled.size() == 4);
		}
	}

	@Test
	void X63_keysAreTheSameIfTheirBytesAre() {
		String topic = Broker.newTopic("ordered-bytes", 1);
		for (int number = 0; number < 50; number++) {
			Broker.send(new ProducerRecord<>(topic, 0, new byte[] { 1, (byte) 0xff }, Broker.bytes("order " + number)));
		}

		try (QueueApp app = app("key", topic).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 50);

			assertThat(handler.most).hasValue(1);
			handler.assertOrdered((record) -> "");
		}
	}

	@Test
	void X61_X66_sameKeyOfAnotherTopicOrPartitionDoesNotWait() {
		String one = Broker.newTopic("ordered-one", 2);
		String two = Broker.newTopic("ordered-two", 1);
		Broker.send(new ProducerRecord<>(one, 0, Broker.bytes("a"), Broker.bytes("held 0")));
		Broker.send(new ProducerRecord<>(one, 1, Broker.bytes("a"), Broker.bytes("held 1")));
		Broker.send(new ProducerRecord<>(two, 0, Broker.bytes("a"), Broker.bytes("held 2")));

		try (QueueApp app = app("key", one, two).start()) {
			Handler handler = app.bean(Handler.class);
			handler.hold.awaitArrived(3);
			handler.hold.release();
			QueueApp.eventually().until(() -> handler.handled.size() == 3);
		}
	}

	@Test
	void X24_secondDeliveryOfAKeyWaitsForTheHandlerOfTheFirstAlsoIfItIgnoresTheInterrupt() {
		String topic = Broker.newTopic("ordered-bounce", 1);
		Broker.send(topic, "a", "stubborn");
		Broker.send(topic, "a", "behind");

		try (QueueApp app = app("key", topic).with("kafka-queue.listeners.ordered.shutdown.drain-timeout", "100ms")
			.with("kafka-queue.listeners.ordered.timeout.grace", "5m")
			.start()) {
			Handler handler = app.bean(Handler.class);
			handler.hold.awaitArrived(1);
			MessageListenerContainer container = Objects
				.requireNonNull(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer("ordered"));
			container.stop();
			QueueApp.eventually().until(() -> !container.isChildRunning());
			Broker.send(topic, "b", "other");
			container.start();

			QueueApp.eventually().until(() -> handler.handled.contains("other"));
			assertThat(app.queue("ordered").waitingForTurn()).isEqualTo(2);
			assertThat(handler.calls).containsExactly("stubborn", "other");
			handler.hold.release();

			QueueApp.eventually().until(() -> handler.handled.contains("behind"));
			assertThat(handler.calls).containsExactly("stubborn", "other", "stubborn", "behind");
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 3);
		}
	}

	private static QueueApp.Builder app(String ordering, String... topics) {
		return QueueApp.of(Handler.class)
			.with("topics", String.join(",", topics))
			.with("group", topics[0])
			.with("kafka-queue.listeners.ordered.ordering", ordering)
			.with("kafka-queue.listeners.ordered.dispatch.max-in-flight", 8)
			.with("kafka-queue.listeners.ordered.retry.local.max-attempts", 3);
	}

	static class Handler {

		final Hold hold = new Hold();

		final List<ConsumerRecord<String, String>> inOrder = Collections.synchronizedList(new ArrayList<>());

		final ConcurrentLinkedQueue<String> handled = new ConcurrentLinkedQueue<>();

		final List<String> calls = Collections.synchronizedList(new ArrayList<>());

		final AtomicInteger most = new AtomicInteger();

		private final AtomicInteger running = new AtomicInteger();

		private final Map<String, AtomicInteger> attempts = new ConcurrentHashMap<>();

		@QueueListener(id = "ordered", topics = "#{'${topics}'.split(',')}", groupId = "${group}")
		void handle(ConsumerRecord<String, String> record) throws InterruptedException {
			String value = record.value();
			this.calls.add(value);
			this.most.accumulateAndGet(this.running.incrementAndGet(), Math::max);
			try {
				if (value.startsWith("held")) {
					this.hold.await();
				}
				if (value.equals("stubborn") && this.hold.arrived() == 0) {
					this.hold.awaitStubbornly();
				}
				boolean first = this.attempts.computeIfAbsent(value, (key) -> new AtomicInteger())
					.incrementAndGet() == 1;
				if (value.equals("bad") || (value.startsWith("fails once") && first)) {
					throw new IllegalStateException(value);
				}
				Thread.yield();
				this.inOrder.add(record);
				this.handled.add(value);
			}
			finally {
				this.running.decrementAndGet();
			}
		}

		/** Each is handled once, and those of a key with rising offsets. */
		void assertOrdered(Function<ConsumerRecord<String, String>, String> key) {
			Map<String, Long> last = new ConcurrentHashMap<>();
			for (ConsumerRecord<String, String> record : List.copyOf(this.inOrder)) {
				Long before = last.put(key.apply(record), record.offset());
				assertThat(before).as("before %s@%s", record.partition(), record.offset())
					.satisfiesAnyOf((offset) -> assertThat(offset).isNull(),
							(offset) -> assertThat(offset).isLessThan(record.offset()));
			}
		}

	}

}
