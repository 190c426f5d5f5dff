package io.queuestarter.observe;

import java.util.Objects;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;

import io.queuestarter.QueueListener;
import io.queuestarter.actuate.QueuesEndpoint;
import io.queuestarter.actuate.QueuesEndpoint.LaneDetail;
import io.queuestarter.actuate.QueuesEndpoint.QueueDetail;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Operators see each lane that a process serves, and how many records it does not serve.
 */
@Tag("threads")
class LaneObservationTests {

	@Test
	void jammedLaneIsToldFromTheOthers() {
		String topic = Broker.newTopic("lanes-observed", 1);
		send(topic, "test", "held", 3);
		send(topic, "prod", "order", 5);
		send(topic, "nobody-knows", "order", 2);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod,test")
			.with("kafka-queue.listeners.lanes.dispatch.max-in-flight", 4)
			.with("kafka-queue.listeners.lanes.lanes.named.test.dispatch.max-in-flight", 2)
			.start()) {
			MeterRegistry meters = app.bean(MeterRegistry.class);
			QueuesEndpoint endpoint = app.bean(QueuesEndpoint.class);
			QueueApp.eventually().until(() -> app.bean(Handler.class).hold.arrived() == 2);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.ACKED, "prod") == 5);
			QueueApp.eventually().until(() -> records(meters, "skipped") == 2);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.OUTSTANDING, "test") == 3);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.OUTSTANDING, "prod") == 0);

			assertThat(value(meters, LaneMeter.IN_FLIGHT, "test")).isEqualTo(2);
			assertThat(value(meters, LaneMeter.LIMIT, "test")).isEqualTo(2);
			assertThat(value(meters, LaneMeter.BUFFERED, "test")).isEqualTo(1);
			assertThat(value(meters, LaneMeter.ACKED, "test")).isZero();
			assertThat(value(meters, LaneMeter.LIMIT, "prod")).isEqualTo(4);
			assertThat(meters.get(QueueMeter.LIMIT.meterName()).gauge().value()).isEqualTo(6);
			assertThat(meters.getMeters()).extracting(Meter::getId)
				.filteredOn((id) -> id.getName().startsWith("kafka.queue.lane."))
				.hasSize(2 * LaneMeter.values().length)
				.allMatch((id) -> "lanes".equals(id.getTag("queue")))
				.extracting((id) -> Objects.requireNonNull(id.getTag("lane")))
				.containsOnly("prod", "test");
			QueueDetail detail = Objects.requireNonNull(endpoint.detail("lanes"));
			assertThat(detail.summary().skipped()).isEqualTo(2);
			assertThat(detail.summary().limit()).isEqualTo(6);
			assertThat(detail.lanes()).extracting(LaneDetail::name).containsExactly("prod", "test");
			assertThat(detail.lanes().get(1)).satisfies((lane) -> {
				assertThat(lane.inFlight()).isEqualTo(2);
				assertThat(lane.limit()).isEqualTo(2);
				assertThat(lane.buffered()).isEqualTo(1);
				assertThat(lane.outstanding()).isEqualTo(3);
				assertThat(lane.circuits()).hasSize(1);
			});
			assertThat(Objects.requireNonNull(detail.partitionList().get(0).head()).lane()).isEqualTo("test");

			app.bean(Handler.class).hold.release();
			QueueApp.eventually().until(() -> value(meters, LaneMeter.ACKED, "test") == 3);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.OUTSTANDING, "test") == 0);
		}
	}

	@Test
	void failuresOfALaneAreItsOwn() {
		String topic = Broker.newTopic("lanes-failing", 1);
		send(topic, "test", "bad", 20);
		send(topic, "test", "held", 20);
		send(topic, "prod", "order", 20);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.circuit-breaker.enabled", true)
			.with("kafka-queue.listeners.lanes.retry.local.max-attempts", 1_000)
			.with("kafka-queue.listeners.lanes.timeout.max-count", 1_000)
			.with("kafka-queue.listeners.lanes.lanes.named.test.timeout.initial", "100ms")
			.start()) {
			MeterRegistry meters = app.bean(MeterRegistry.class);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.ACKED, "prod") == 20);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.TIMEOUTS, "test") > 0);
			QueueApp.eventually().until(() -> value(meters, LaneMeter.CIRCUITS_OPEN, "test") == 1);

			assertThat(value(meters, LaneMeter.RETRIES, "test")).isPositive();
			assertThat(value(meters, LaneMeter.RETRIES, "prod")).isZero();
			assertThat(value(meters, LaneMeter.TIMEOUTS, "prod")).isZero();
			assertThat(value(meters, LaneMeter.CIRCUITS_OPEN, "prod")).isZero();
		}
	}

	@Test
	void recordsThatAreForwardedAreCounted() {
		String topic = Broker.newTopic("lanes-forwarded", 1);
		send(topic, "nobody-knows", "order", 3);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.on-foreign", "forward")
			.with("kafka-queue.listeners.lanes.lanes.forward-topic", "{topic}-{lane}")
			.start()) {
			MeterRegistry meters = app.bean(MeterRegistry.class);
			QueueApp.eventually().until(() -> records(meters, "forwarded") == 3);

			assertThat(Broker.records(topic + "-unknown")).hasSize(3);
			assertThat(records(meters, "skipped")).isZero();
		}
	}

	@Test
	void recordsOfAnotherZoneAreCountedAndAQueueWithoutLanesHasNoMetersOfThem() {
		String topic = Broker.newTopic("zones-observed", 1);
		for (String zone : new String[] { "east", "west", "west" }) {
			ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, Broker.bytes("order"));
			record.headers().add("zone", Broker.bytes(zone));
			Broker.send(record);
		}
		Broker.send(topic, null, "order");

		try (QueueApp app = QueueApp.of(Handler.class)
			.with("topic", topic)
			.with("spring.jmx.enabled", true)
			.with("management.endpoints.jmx.exposure.include", "queues")
			.with("kafka-queue.listeners.lanes.zone.header", "zone")
			.with("kafka-queue.listeners.lanes.zone.own", "east")
			.start()) {
			MeterRegistry meters = app.bean(MeterRegistry.class);
			QueueApp.eventually().until(() -> records(meters, "acked") == 4);

			assertThat(meters.get(QueueMeter.ZONE_OTHER.meterName()).functionCounter().count()).isEqualTo(2);
			assertThat(meters.getMeters()).extracting((meter) -> meter.getId().getName())
				.noneMatch((name) -> name.startsWith("kafka.queue.lane."));
			assertThat(Objects.requireNonNull(app.bean(QueuesEndpoint.class).detail("lanes")).lanes()).isEmpty();
		}
	}

	private static void send(String topic, String lane, String value, int count) {
		for (int number = 0; number < count; number++) {
			ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, Broker.bytes(value));
			record.headers().add("tenancy", Broker.bytes(lane));
			Broker.send(record);
		}
	}

	private static double value(MeterRegistry meters, LaneMeter meter, String lane) {
		Meter found = meters.get(meter.meterName()).tags("queue", "lanes", "lane", lane).meter();
		return (found instanceof FunctionCounter counter) ? counter.count() : ((Gauge) found).value();
	}

	private static double records(MeterRegistry meters, String outcome) {
		return meters.get(QueueMeters.RECORDS)
			.tags("queue", "lanes", "outcome", outcome, "reason", "none")
			.functionCounter()
			.count();
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Handler.class)
			.with("topic", topic)
			.with("spring.jmx.enabled", true)
			.with("management.endpoints.jmx.exposure.include", "queues")
			.with("kafka-queue.listeners.lanes.lanes.header", "tenancy")
			.with("kafka-queue.listeners.lanes.lanes.default-lane", "prod")
			.with("kafka-queue.listeners.lanes.lanes.named.test.values", "test");
	}

	static class Handler {

		final Hold hold = new Hold();

		@QueueListener(id = "lanes", topics = "${topic}", groupId = "${topic}", timeout = "10m")
		void handle(String order) throws InterruptedException {
			if (order.equals("bad")) {
				throw new IllegalStateException("Bad order");
			}
			if (order.equals("held")) {
				this.hold.await();
			}
		}

		@Bean
		static MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

	}

}
