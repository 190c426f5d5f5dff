package io.queuestarter;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.container.QueueState;
import io.queuestarter.outage.CircuitState;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What handlers depend on is out of order for a while: nothing is dead-lettered, and all
 * is handled afterwards. A record that nobody can handle is dead-lettered all the same.
 */
@Tag("threads")
class OutageTests {

	@Test
	void K1_downstreamThatFailsLeavesNoDeadLetters() {
		String topic = Broker.newTopic("outage", 2);
		try (QueueApp app = app(topic).start()) {
			Downstream downstream = app.bean(Downstream.class);
			downstream.down.add("visa");
			send(topic, "visa", 0, 300);

			QueueApp.eventually().until(() -> circuit(app, "charges").state(), "OPEN"::equals);
			int failures = downstream.failures.get();
			Awaitility.await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(20)).until(() -> true);

			assertThat(downstream.failures.get() - failures).as("attempts burnt while open").isLessThan(60);
			assertThat(app.queue("charges").partitions()).allSatisfy((view) -> assertThat(view.paused()).isTrue());
			downstream.down.clear();
			QueueApp.eventually().until(() -> downstream.handled.size() == 300);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 300);
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	@Test
	void K1_downstreamThatHangsOpensTheBreakerByTimeouts() {
		String topic = Broker.newTopic("hanging", 1);
		try (QueueApp app = app(topic).with("kafka-queue.listeners.charges.timeout.initial", "200ms")
			.with("kafka-queue.listeners.charges.timeout.max", "200ms")
			.start()) {
			Downstream downstream = app.bean(Downstream.class);
			downstream.hanging.add("visa");
			send(topic, "visa", 0, 100);

			QueueApp.eventually().until(() -> circuit(app, "charges").state(), "OPEN"::equals);
			downstream.hanging.clear();

			QueueApp.eventually().until(() -> downstream.handled.size() == 100);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 100);
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
			assertThat(app.queue("charges").outcomes().timedOutCount()).isPositive();
		}
	}

	@Test
	void poisonAmongGoodRecordsIsDeadLetteredPromptly() {
		String topic = Broker.newTopic("poison", 1);
		try (QueueApp app = app(topic).start()) {
			send(topic, "visa", 0, 50);
			send(topic, "poison", 0, 1);
			send(topic, "visa", 50, 100);

			QueueApp.eventually().until(() -> DeadLetter.count(topic + "-dlq") == 1 || trickle(topic));
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) >= 151);
			assertThat(DeadLetter.count(topic + "-dlq")).isOne();
		}
	}

	/** Goes on sending, as a topic in use does. */
	private static boolean trickle(String topic) {
		send(topic, "visa", 1_000, 1);
		return false;
	}

	@Test
	void poisonDuringAnOutageIsTheOnlyDeadLetter() {
		String topic = Broker.newTopic("both", 1);
		try (QueueApp app = app(topic).start()) {
			Downstream downstream = app.bean(Downstream.class);
			downstream.down.add("visa");
			send(topic, "visa", 0, 50);
			send(topic, "poison", 0, 1);
			send(topic, "visa", 50, 50);
			QueueApp.eventually().until(() -> circuit(app, "charges").state(), "OPEN"::equals);

			downstream.down.clear();

			QueueApp.eventually().until(() -> downstream.handled.size() >= 100);
			QueueApp.eventually().until(() -> DeadLetter.count(topic + "-dlq") == 1 || trickle(topic));
			QueueApp.eventually()
				.until(() -> app.queue("charges").partitions().stream().allMatch((view) -> view.tracked() == 0));
			assertThat(DeadLetter.count(topic + "-dlq")).isOne();
			assertThat(DeadLetter.awaitOne(topic).value()).isEqualTo("poison");
		}
	}

	/*
	 * A tenth of 3,000 records always fails, and a window holds 100, as with the settings
	 * of production: poison must neither fill the window for good nor open the breaker.
	 * On a slow machine the poison of the first window may fail when all others have
	 * begun already, so that nothing tells that it is to blame: then it takes the
	 * patience.
	 */
	@Test
	void X42_shareOfPoisonNeverStopsTheQueue() {
		String topic = Broker.newTopic("share", 1);
		for (int i = 0; i < 3_000; i++) {
			send(topic, (i % 10 == 5) ? "poison" : "visa", i, 1);
		}

		try (QueueApp app = app(topic).with("kafka-queue.defaults.ledger.capacity", "100")
			.with("kafka-queue.defaults.dlq.budget.patience", "10s")
			.with("kafka-queue.defaults.blocking.enabled", "true")
			.start()) {
			Downstream downstream = app.bean(Downstream.class);

			QueueApp.eventually()
				.atMost(Duration.ofSeconds(90))
				.until(() -> downstream.handled.size() >= 2_700 && DeadLetter.count(topic + "-dlq") >= 300
						|| trickle(topic));
			QueueApp.eventually()
				.until(() -> app.queue("charges").partitions().stream().allMatch((view) -> view.tracked() == 0));
			assertThat(DeadLetter.await(topic, 300)).hasSize(300)
				.allSatisfy((letter) -> assertThat(letter.value()).isEqualTo("poison"));
			assertThat(circuit(app, "charges").state()).isEqualTo("CLOSED");
			assertThat(app.queue("charges").state()).isEqualTo(QueueState.RUNNING);
		}
	}

	@Test
	void outageOfOneKeyDoesNotStopTheOthers() {
		String topic = Broker.newTopic("keyed", 1);
		try (QueueApp app = app(topic).with("kafka-queue.listeners.charges.circuit-breaker.key-header", "provider")
			.start()) {
			Downstream downstream = app.bean(Downstream.class);
			downstream.down.add("visa");
			send(topic, "visa", 0, 100);
			send(topic, "mastercard", 0, 200);

			QueueApp.eventually().until(() -> downstream.handled.size() == 200);
			QueueApp.eventually().until(() -> circuit(app, "charges.visa").state(), "OPEN"::equals);
			assertThat(circuit(app, "charges.mastercard").state()).isEqualTo("CLOSED");
			send(topic, "mastercard", 200, 200);
			QueueApp.eventually().until(() -> downstream.handled.size() == 400);
			downstream.down.clear();
			QueueApp.eventually().until(() -> downstream.handled.size() == 500);
			assertThat(DeadLetter.count(topic + "-dlq")).isZero();
		}
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Downstream.class)
			.with("topic", topic)
			.with("kafka-queue.defaults.circuit-breaker.enabled", "true")
			.with("kafka-queue.defaults.dlq.budget.patience", "2m")
			.with("kafka-queue.defaults.dlq.budget.free", "1")
			.with("kafka-queue.listeners.charges.dispatch.max-in-flight", "16");
	}

	private static CircuitState circuit(QueueApp app, String name) {
		return app.queue("charges")
			.circuitStates()
			.stream()
			.filter((state) -> state.name().equals(name))
			.findFirst()
			.orElse(new CircuitState(name, "UNKNOWN", 0));
	}

	private static void send(String topic, String provider, int from, int count) {
		for (int i = from; i < from + count; i++) {
			String value = provider.equals("poison") ? provider : provider + "-" + i;
			Broker.send(new ProducerRecord<byte[], byte[]>(topic, null, (byte[]) null,
					value.getBytes(StandardCharsets.UTF_8),
					List.of(new RecordHeader("provider", provider.getBytes(StandardCharsets.UTF_8)))));
		}
	}

	static class Downstream {

		final Set<String> down = ConcurrentHashMap.newKeySet();

		final Set<String> hanging = ConcurrentHashMap.newKeySet();

		final Set<String> handled = ConcurrentHashMap.newKeySet();

		final AtomicInteger failures = new AtomicInteger();

		@QueueListener(id = "charges", topics = "${topic}", groupId = "${topic}")
		void charge(ConsumerRecord<String, String> record) throws InterruptedException {
			String provider = new String(Objects.requireNonNull(record.headers().lastHeader("provider")).value(),
					StandardCharsets.UTF_8);
			if (this.hanging.contains(provider)) {
				new CountDownLatch(1).await();
			}
			if (this.down.contains(provider) || provider.equals("poison")) {
				this.failures.incrementAndGet();
				throw new IllegalStateException("no answer from " + provider);
			}
			this.handled.add(record.value());
		}

	}

}
