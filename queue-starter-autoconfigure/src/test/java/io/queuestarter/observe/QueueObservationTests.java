package io.queuestarter.observe;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Bean;

import io.queuestarter.QueueListener;
import io.queuestarter.QueueRejectException;
import io.queuestarter.actuate.QueuesEndpoint;
import io.queuestarter.actuate.QueuesEndpoint.PartitionDetail;
import io.queuestarter.actuate.QueuesEndpoint.QueueDetail;
import io.queuestarter.actuate.QueuesEndpoint.QueueSummary;
import io.queuestarter.container.Queues;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ten records lie in one partition. The handler holds the first, rejects the last and
 * handles the rest. While the first is held, endpoint, meters and health must tell which
 * record holds the watermark; when it is released, that nothing does any more.
 */
@Tag("threads")
class QueueObservationTests {

	@Test
	void operatorSeesWhatHoldsTheWatermark() {
		String topic = Broker.newTopic("observed", 1);
		Broker.sendNumbers(topic, 1, 10);

		try (QueueApp app = QueueApp.of(Holding.class)
			.with("topic", topic)
			.with("spring.jmx.enabled", true)
			.with("management.endpoints.jmx.exposure.include", "queues")
			.start()) {
			Holding handler = app.bean(Holding.class);
			MeterRegistry meters = app.bean(MeterRegistry.class);
			QueuesEndpoint endpoint = app.bean(QueuesEndpoint.class);
			HealthIndicator health = health(app);
			QueueApp.eventually().until(() -> app.queue("holding").outcomes().acknowledgedCount() == 8);
			QueueApp.eventually().until(() -> app.queue("holding").deadLettered() == 1);
			QueueApp.eventually().until(() -> partition(endpoint).ledger().acked() == 9);
			QueueApp.eventually().until(() -> Broker.committedOffset("observed", topic, 0) == 0);
			QueueApp.eventually().until(() -> partition(endpoint).committed() == 0);

			PartitionDetail partition = partition(endpoint);
			assertThat(partition.watermark()).isZero();
			assertThat(partition.highestSeen()).isEqualTo(9);
			assertThat(partition.end()).isEqualTo(10);
			assertThat(partition.lag()).isEqualTo(10);
			assertThat(partition.outstanding()).isEqualTo(1);
			assertThat(partition.ledger().tracked()).isEqualTo(10);
			assertThat(Objects.requireNonNull(partition.head()).offset()).isZero();
			assertThat(partition.head().state()).isEqualTo("IN_FLIGHT");
			assertThat(partition.head().attempt()).isEqualTo(1);
			QueueSummary summary = endpoint.list().queues().get(0);
			assertThat(summary.state()).isEqualTo("RUNNING");
			assertThat(summary.topics()).containsExactly(topic);
			assertThat(summary.inFlight()).isEqualTo(1);
			assertThat(summary.deadLettered()).isEqualTo(1);
			assertThat(gauge(meters, QueueMeter.IN_FLIGHT)).isEqualTo(1);
			assertThat(gauge(meters, QueueMeter.LAG)).isEqualTo(10);
			assertThat(gauge(meters, QueueMeter.HEAD_AGE)).isPositive();
			assertThat(gauge(meters, QueueMeter.LEDGER_FILL)).isEqualTo(10 / 10_000.0);
			assertThat(records(meters, "acked", "none")).isEqualTo(8);
			assertThat(records(meters, "dlq", "nack")).isEqualTo(1);
			Health whileHeld = Objects.requireNonNull(health.health());
			assertThat(whileHeld.getStatus()).isEqualTo(Status.UP);
			assertThat(whileHeld.getDetails()).containsEntry("inFlight", 1).containsKeys("headAge", "lastPoll");

			handler.release.countDown();
			QueueApp.eventually().until(() -> Broker.committedOffset("observed", topic, 0) == 10);
			QueueApp.eventually().until(() -> partition(endpoint).lag() == 0);

			assertThat(partition(endpoint).head()).isNull();
			QueueApp.eventually().until(() -> gauge(meters, QueueMeter.IN_FLIGHT) == 0);
			assertThat(gauge(meters, QueueMeter.OUTSTANDING)).isZero();
		}
	}

	@Test
	void everySettingIsShownWithItsSource() {
		try (QueueApp app = QueueApp.of(Idle.class)
			.with("spring.jmx.enabled", true)
			.with("management.endpoints.jmx.exposure.include", "queues")
			.with("kafka-queue.listeners.idle.dispatch.max-in-flight", 7)
			.start()) {
			QueueDetail detail = Objects.requireNonNull(app.bean(QueuesEndpoint.class).detail("idle"));

			assertThat(detail.settings()).hasSizeGreaterThanOrEqualTo(18);
			assertThat(Objects.requireNonNull(detail.settings().get("dispatch.max-in-flight")))
				.satisfies((setting) -> assertThat(setting.value()).isEqualTo("7"))
				.satisfies((setting) -> assertThat(setting.source())
					.startsWith("kafka-queue.listeners.idle.dispatch.max-in-flight"));
			assertThat(detail.summary().state()).isEqualTo("STOPPED");
			assertThat(app.bean(QueuesEndpoint.class).detail("nobody")).isNull();
		}
	}

	@Test
	void namesOfMetersAreUniqueAndLowerCase() {
		assertThat(Arrays.stream(QueueMeter.values()).map(QueueMeter::meterName)).doesNotHaveDuplicates()
			.allMatch((name) -> name.matches("kafka\\.queue(\\.[a-z]+)+"));
	}

	private static PartitionDetail partition(QueuesEndpoint endpoint) {
		return Objects.requireNonNull(endpoint.detail("holding")).partitionList().get(0);
	}

	private static HealthIndicator health(QueueApp app) {
		return (HealthIndicator) Objects
			.requireNonNull(new QueuesHealth(app.bean(Queues.class), app.bean(Doctor.class)).getContributor("holding"));
	}

	private static double gauge(MeterRegistry meters, QueueMeter meter) {
		return meters.get(meter.meterName()).tag("queue", "holding").gauge().value();
	}

	private static double records(MeterRegistry meters, String outcome, String reason) {
		return meters.get(QueueMeters.RECORDS).tags("outcome", outcome, "reason", reason).functionCounter().count();
	}

	static class Holding {

		final CountDownLatch release = new CountDownLatch(1);

		@QueueListener(id = "holding", topics = "${topic}", groupId = "observed")
		void handle(String value) throws InterruptedException {
			if (value.equals("0")) {
				this.release.await();
			}
			if (value.equals("9")) {
				throw new QueueRejectException("not nine");
			}
		}

		@Bean
		static MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry();
		}

	}

	static class Idle {

		@QueueListener(id = "idle", topics = "idle", groupId = "idle", autoStartup = "false")
		void handle(String value) {
		}

	}

}
