package io.queuestarter;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.deadletter.Destination;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Records of lanes share a topic and a window, and nothing else. What a process does not
 * serve never reaches its handler.
 */
@Tag("threads")
class LaneTests {

	@Test
	void K2_processThatServesProductionAloneSkipsAllOthersAndGoesOn() {
		String topic = Broker.newTopic("lane-skip", 3);
		String[] lanes = { "prod", "test", null, "nobody-knows" };
		for (int number = 0; number < 1_000; number++) {
			send(topic, lanes[number % 4], "order " + number);
		}

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod").start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 1_000);

			assertThat(handler.handled).hasSize(500).allMatch((value) -> Integer.parseInt(value.substring(6)) % 2 == 0);
			assertThat(handler.lanes).containsOnly("prod");
			assertThat(app.queue("lanes").intakeCounts().skipped()).isEqualTo(500);
			assertThat(app.queue("lanes").deadLettered()).isZero();
		}
	}

	@Test
	void K2_processThatServesAnotherLaneJoinsAGroupOfItsOwnSoThatNothingIsMissed() {
		String topic = Broker.newTopic("lane-groups", 2);
		for (int number = 0; number < 100; number++) {
			send(topic, (number % 2 == 0) ? "prod" : "test", "order " + number);
		}

		try (QueueApp prod = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod").start();
				QueueApp test = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "test").start()) {
			QueueApp.eventually().until(() -> prod.bean(Handler.class).handled.size() == 50);
			QueueApp.eventually().until(() -> test.bean(Handler.class).handled.size() == 50);

			assertThat(prod.bean(Handler.class).lanes).containsOnly("prod");
			assertThat(test.bean(Handler.class).lanes).containsOnly("test");
			assertThat(test.queue("lanes").group()).isEqualTo(prod.queue("lanes").group() + ".test");
		}
	}

	@Test
	void jammedLaneTakesNothingFromTheOthersButTheWindow() {
		String topic = Broker.newTopic("lane-jam", 1);
		for (int number = 0; number < 300; number++) {
			send(topic, "test", "held " + number);
		}
		for (int number = 0; number < 500; number++) {
			send(topic, "prod", "order " + number);
		}

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.buffer.max-records", 20)
			.with("kafka-queue.listeners.lanes.dispatch.max-in-flight", 4)
			.with("kafka-queue.listeners.lanes.lanes.named.test.dispatch.max-in-flight", 2)
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 500);

			assertThat(handler.hold.arrived()).isEqualTo(2);
			assertThat(Broker.committedSum(topic, topic)).isZero();
			handler.hold.release();
			QueueApp.eventually().until(() -> handler.handled.size() == 800);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 800);
		}
	}

	@Test
	void jammedProductionDoesNotHoldUpOtherLanesEither() {
		String topic = Broker.newTopic("lane-jam-prod", 1);
		for (int number = 0; number < 100; number++) {
			send(topic, null, "held " + number);
			send(topic, "test", "order " + number);
		}

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.buffer.max-records", 10)
			.with("kafka-queue.listeners.lanes.dispatch.max-in-flight", 2)
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 100);

			assertThat(handler.lanes).containsOnly("test");
			handler.hold.release();
			QueueApp.eventually().until(() -> handler.handled.size() == 200);
		}
	}

	@Test
	void failingLaneOpensItsOwnBreakerOnly() {
		String topic = Broker.newTopic("lane-breaker", 1);
		for (int number = 0; number < 50; number++) {
			send(topic, "test", "bad " + number);
		}

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.circuit-breaker.enabled", true)
			.with("resilience4j.circuitbreaker.configs.default.minimum-number-of-calls", 5)
			.start()) {
			QueueApp.eventually()
				.until(() -> app.queue("lanes")
					.circuitStates()
					.stream()
					.anyMatch((circuit) -> circuit.state().equals("OPEN")));
			for (int number = 0; number < 100; number++) {
				send(topic, "prod", "order " + number);
			}

			QueueApp.eventually().until(() -> app.bean(Handler.class).handled.size() == 100);
			assertThat(app.queue("lanes").circuitStates()).extracting((circuit) -> circuit.state())
				.containsExactlyInAnyOrder("CLOSED", "OPEN");
		}
	}

	@Test
	void laneHasAttemptsAndADeadLetterTopicOfItsOwnIfItSaysSo() {
		String topic = Broker.newTopic("lane-own", 1);
		send(topic, "test", "bad test");
		send(topic, "prod", "bad prod");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.named.test.retry.local.max-attempts", 1)
			.with("kafka-queue.listeners.lanes.lanes.named.test.dlq.topic", "{topic}-test-dlq")
			.start()) {
			DeadLetter test = DeadLetter.awaitIn(topic + "-test-dlq", 1).get(0);
			DeadLetter prod = DeadLetter.awaitOne(topic);

			assertThat(test.value()).isEqualTo("bad test");
			assertThat(test.attempts()).isEqualTo(1);
			assertThat(test.text("tenancy")).isEqualTo("test");
			assertThat(prod.value()).isEqualTo("bad prod");
			assertThat(prod.attempts()).isEqualTo(3);
			assertThat(app.queue("lanes").deadLetterTopics()).containsExactlyInAnyOrder(topic + "-dlq",
					topic + "-test-dlq");
		}
	}

	@Test
	void heldRecordWaitsForAProcessThatServesItsLane() {
		String topic = Broker.newTopic("lane-hold", 1);
		send(topic, "test", "mine");
		send(topic, "prod", "order");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod")
			.with("kafka-queue.listeners.lanes.lanes.on-foreign", "hold")
			.start()) {
			QueueApp.eventually().until(() -> app.bean(Handler.class).handled.contains("order"));
			QueueApp.eventually().until(() -> isSettledAbove(topic));
			assertThat(Broker.committedSum(topic, topic)).isZero();
		}
		try (QueueApp app = app(topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);

			assertThat(app.bean(Handler.class).handled).containsExactly("mine");
		}
	}

	@Test
	void foreignRecordIsForwardedAsItIs() {
		String topic = Broker.newTopic("lane-forward", 1);
		send(topic, "test", "theirs");
		send(topic, "prod", "order");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod")
			.with("kafka-queue.listeners.lanes.lanes.on-foreign", "forward")
			.with("kafka-queue.listeners.lanes.lanes.forward-topic", "{topic}-{lane}")
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);

			ConsumerRecord<byte[], byte[]> forwarded = Broker.records(topic + "-test").get(0);
			assertThat(forwarded.value()).isEqualTo(Broker.bytes("theirs"));
			assertThat(forwarded.headers().toArray())
				.containsExactly(new RecordHeader("tenancy", "test".getBytes(StandardCharsets.UTF_8)));
			assertThat(app.bean(Handler.class).handled).containsExactly("order");
		}
	}

	@Test
	void foreignRecordIsDeadLetteredWithoutAnAttempt() {
		String topic = Broker.newTopic("lane-dead", 1);
		send(topic, "test", "theirs");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod")
			.with("kafka-queue.listeners.lanes.lanes.on-foreign", "dead_letter")
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.reason()).isEqualTo("foreign_lane");
			assertThat(letter.attempts()).isZero();
			assertThat(app.bean(Handler.class).handled).isEmpty();
		}
	}

	@Test
	void foreignRecordIsDeadLetteredAsTheQueueSaysWhicheverLaneIsServedFirst() {
		String topic = Broker.newTopic("lane-dead-first", 1);
		send(topic, "nobody-knows", "theirs");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "test,prod")
			.with("kafka-queue.listeners.lanes.lanes.on-foreign", "dead_letter")
			.with("kafka-queue.listeners.lanes.lanes.named.test.dlq.enabled", false)
			.start()) {
			assertThat(DeadLetter.awaitOne(topic).reason()).isEqualTo("foreign_lane");
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 1);
		}
	}

	@Test
	void deadLetterTopicsAreThoseOfLanesThatHaveDeadLetters() {
		String topic = Broker.newTopic("lane-dead-some", 1);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.dlq.enabled", false)
			.with("kafka-queue.listeners.lanes.lanes.named.test.dlq.enabled", true)
			.with("kafka-queue.listeners.lanes.lanes.named.test.dlq.topic", "{topic}-test-dlq")
			.start()) {
			assertThat(app.queue("lanes").deadLetterTopics()).containsExactly(topic + "-test-dlq");
			QueueApp.eventually().until(() -> Broker.partitionsOf(topic + "-test-dlq") == 1);
			assertThat(Broker.partitionsOf(topic + "-dlq")).isZero();
		}
	}

	@Test
	void recordThatNamesTwoLanesReachesNone() {
		String topic = Broker.newTopic("lane-two", 1);
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, Broker.bytes("both"));
		record.headers().add("tenancy", Broker.bytes("prod")).add("tenancy", Broker.bytes("test"));
		Broker.send(record);
		send(topic, "prod", "order");

		try (QueueApp app = app(topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);

			assertThat(app.bean(Handler.class).handled).containsExactly("order");
			assertThat(DeadLetter.awaitOne(topic).reason()).isEqualTo("foreign_lane");
		}
	}

	@Test
	void D5_headerThatIsNoTextIsAnUnknownLaneAndANullOneNone() {
		String topic = Broker.newTopic("lane-bytes", 1);
		ProducerRecord<byte[], byte[]> noText = new ProducerRecord<>(topic, Broker.bytes("no text"));
		noText.headers().add("tenancy", new byte[] { (byte) 0xff, (byte) 0xfe, 0 });
		Broker.send(noText);
		ProducerRecord<byte[], byte[]> nothing = new ProducerRecord<>(topic, Broker.bytes("nothing"));
		nothing.headers().add("tenancy", null);
		Broker.send(nothing);

		try (QueueApp app = app(topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);

			assertThat(app.bean(Handler.class).handled).containsExactly("nothing");
		}
	}

	@Test
	void laneThatFillsTheWindowIsParkedSoThatOthersGoOnDuringItsOutage() {
		String topic = Broker.newTopic("lane-park", 1);
		for (int number = 0; number < 100; number++) {
			send(topic, "test", "held " + number);
		}
		for (int number = 0; number < 300; number++) {
			send(topic, "prod", "order " + number);
		}

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.ledger.capacity", 50)
			.with("kafka-queue.listeners.lanes.blocking.enabled", true)
			.with("kafka-queue.listeners.lanes.blocking.action", "park")
			.with("kafka-queue.listeners.lanes.timeout.initial", "2s")
			.with("kafka-queue.listeners.lanes.timeout.max-count", 1_000)
			.with("kafka-queue.listeners.lanes.retry.local.max-attempts", 1_000)
			.with("kafka-queue.listeners.lanes.lanes.named.test.dispatch.max-in-flight", 2)
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 300);

			assertThat(handler.lanes).containsOnly("prod");
			handler.hold.release();
			QueueApp.eventually().until(() -> handler.handled.size() == 400);
			assertThat(app.queue("lanes").deadLettered()).isZero();
			QueueApp.eventually().until(() -> app.queue("lanes").buffered() == 0);
		}
	}

	@Test
	void laneThatGoesOnIsNotParkedAlthoughItsBacklogFillsTheWindow() {
		String topic = Broker.newTopic("lane-backlog", 1);
		for (int number = 0; number < 200; number++) {
			send(topic, "prod", "slow " + number);
		}

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.ledger.capacity", 50)
			.with("kafka-queue.listeners.lanes.blocking.enabled", true)
			.with("kafka-queue.listeners.lanes.blocking.action", "park")
			.with("kafka-queue.listeners.lanes.dispatch.max-in-flight", 2)
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> {
				handler.pace.release(2);
				return handler.handled.size() == 200;
			});

			assertThat(app.queue("lanes").redirected(Destination.Kind.PARK)).isZero();
		}
	}

	@Test
	void recordsOfAnotherZoneRunWhenNoneOfTheOwnOneWaits() {
		String topic = Broker.newTopic("zone-prefer", 1);
		sendFrom(topic, "east", "held first");
		for (int number = 0; number < 20; number++) {
			sendFrom(topic, "west", "order west " + number);
			sendFrom(topic, "east", "order east " + number);
		}

		try (QueueApp app = QueueApp.of(Handler.class)
			.with("lane.topic", topic)
			.with("kafka-queue.listeners.lanes.dispatch.max-in-flight", 1)
			.with("kafka-queue.listeners.lanes.zone.header", "zone")
			.with("kafka-queue.listeners.lanes.zone.own", "east")
			.start()) {
			Handler handler = app.bean(Handler.class);
			handler.hold.awaitArrived(1);
			QueueApp.eventually().until(() -> app.queue("lanes").buffered() == 20);
			handler.hold.release();
			QueueApp.eventually().until(() -> handler.handled.size() == 41);

			assertThat(handler.zones.stream().limit(21)).containsOnly("east");
			assertThat(handler.zones.stream().skip(21)).containsOnly("west");
		}
	}

	@Test
	void recordsOfAnotherZoneWaitForTheirAgeIfZonesAreStrict() {
		String topic = Broker.newTopic("zone-strict", 1);
		long now = System.currentTimeMillis();
		Broker.send(fromZone(topic, "west", "young", now + 600_000));
		Broker.send(fromZone(topic, "west", "old", now - 600_000));
		Broker.send(fromZone(topic, "east", "own", now));

		try (QueueApp app = QueueApp.of(Handler.class)
			.with("lane.topic", topic)
			.with("kafka-queue.listeners.lanes.zone.header", "zone")
			.with("kafka-queue.listeners.lanes.zone.own", "east")
			.with("kafka-queue.listeners.lanes.zone.mode", "strict")
			.with("kafka-queue.listeners.lanes.zone.fail-over-after", "5m")
			.start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() == 2);

			assertThat(handler.handled).containsExactlyInAnyOrder("own", "old");
			assertThat(app.queue("lanes").retryWaiting()).isEqualTo(1);
		}
	}

	@Test
	void methodOfALaneHandlesItsRecordsInPlaceOfTheQueues() {
		String topic = Broker.newTopic("lane-method", 1);
		for (int number = 0; number < 20; number++) {
			send(topic, (number % 2 == 0) ? "test" : null, "order " + number);
		}

		try (QueueApp app = QueueApp.of(TestLane.class, Handler.class)
			.with("lane.topic", topic)
			.with("kafka-queue.listeners.lanes.lanes.header", "tenancy")
			.with("kafka-queue.listeners.lanes.lanes.named.test.values", "test")
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 20);

			assertThat(app.bean(Handler.class).lanes).hasSize(10).containsOnly("default");
			assertThat(app.bean(TestLane.class).lanes).hasSize(10).containsOnly("test");
		}
	}

	@Test
	void methodOfALaneThatComesAfterTheQueueHasStartedIsRefused() {
		String topic = Broker.newTopic("lane-late", 1);

		try (QueueApp app = app(topic)
			.prepare((context) -> context.registerBean(TestLane.class, (bean) -> bean.setLazyInit(true)))
			.start()) {
			assertThatThrownBy(() -> app.bean(TestLane.class)).rootCause()
				.isInstanceOf(QueueConfigurationException.class)
				.hasMessageContaining("queue 'lanes', which has started without it");
		}
	}

	@Test
	void methodOfALaneThatTheQueueDoesNotHaveFailsTheStart() {
		assertThatThrownBy(() -> QueueApp.of(TestLane.class, Handler.class)
			.with("lane.topic", Broker.newTopic("lane-none", 1))
			.start()).rootCause()
			.isInstanceOf(QueueConfigurationException.class)
			.hasMessageContaining("lane 'test', which queue 'lanes' does not have; there are [default].")
			.hasMessageContaining("and set lanes.header");
		assertThatThrownBy(() -> QueueApp.of(TestLane.class, Handler.class)
			.with("lane.topic", Broker.newTopic("lane-other", 1))
			.with("kafka-queue.listeners.lanes.lanes.header", "tenancy")
			.with("kafka-queue.listeners.lanes.lanes.named.tests.values", "tests")
			.start()).rootCause()
			.isInstanceOf(QueueConfigurationException.class)
			.hasMessageContaining("does not have; there are [default, tests, unknown].")
			.hasMessageContaining("Did you mean 'tests'?");
		assertThatThrownBy(() -> QueueApp.of(TestLane.class).start()).rootCause()
			.isInstanceOf(QueueConfigurationException.class)
			.hasMessageContaining("queue 'lanes', which does not exist");
	}

	private static void sendFrom(String topic, String zone, String value) {
		Broker.send(fromZone(topic, zone, value, System.currentTimeMillis()));
	}

	private static ProducerRecord<byte[], byte[]> fromZone(String topic, String zone, String value, long timestamp) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, timestamp, null, Broker.bytes(value));
		record.headers().add("zone", Broker.bytes(zone));
		return record;
	}

	private static boolean isSettledAbove(String topic) {
		OffsetAndMetadata committed = Broker.committed(topic, topic, 0);
		return committed != null && !AckedSetCodec.decode(committed.offset(), committed.metadata())
			.orElse(AckedSet.EMPTY)
			.settled()
			.isEmpty();
	}

	private static void send(String topic, @Nullable String lane, String value) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, Broker.bytes(value));
		if (lane != null) {
			record.headers().add("tenancy", Broker.bytes(lane));
		}
		Broker.send(record);
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Handler.class)
			.with("lane.topic", topic)
			.with("kafka-queue.listeners.lanes.lanes.header", "tenancy")
			.with("kafka-queue.listeners.lanes.lanes.default-lane", "prod")
			.with("kafka-queue.listeners.lanes.lanes.named.test.values", "test,load-test");
	}

	static final class Handler {

		final Collection<String> handled = new ConcurrentLinkedQueue<>();

		final Collection<String> lanes = new ConcurrentLinkedQueue<>();

		final Collection<String> zones = new ConcurrentLinkedQueue<>();

		final Hold hold = new Hold();

		final Semaphore pace = new Semaphore(0);

		@QueueListener(id = "lanes", topics = "${lane.topic}", groupId = "${lane.topic}", timeout = "10m")
		void handle(String order, QueueContext context) throws InterruptedException {
			if (order.startsWith("bad")) {
				throw new IllegalStateException("Bad order");
			}
			if (order.startsWith("slow")) {
				this.pace.acquire();
			}
			if (order.startsWith("held")) {
				this.hold.await();
			}
			this.lanes.add(context.lane());
			this.zones.add(String.valueOf(context.zone()));
			this.handled.add(order);
		}

	}

	static final class TestLane {

		final Collection<String> lanes = new ConcurrentLinkedQueue<>();

		@QueueListener(queue = "lanes", lane = "test")
		void handle(String order, QueueContext context) {
			this.lanes.add(context.lane());
		}

	}

}
