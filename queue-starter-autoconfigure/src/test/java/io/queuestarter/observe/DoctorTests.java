package io.queuestarter.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.queuestarter.actuate.QueuesEndpoint;
import io.queuestarter.container.LogBounds;
import io.queuestarter.container.PartitionView;
import io.queuestarter.observe.Finding.Kind;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.ConsumerTap;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class DoctorTests {

	private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

	private static final DoctorSettings SETTINGS = new DoctorSettings(Duration.ofSeconds(30), 0.75,
			Duration.ofMinutes(1), Duration.ofMinutes(5));

	@Test
	void partitionThatMovesAndCommitsIsWell() {
		assertThat(examine(NOW, null, Duration.ofHours(4), NOW.minus(Duration.ofHours(2)))).isEmpty();
	}

	@Test
	void recordOfThreeQuartersOfTheRetentionIsAFinding() {
		List<Finding> findings = examine(NOW, null, Duration.ofHours(4), NOW.minus(Duration.ofHours(3)).minusMillis(1));

		assertThat(findings).singleElement().satisfies((finding) -> {
			assertThat(finding.kind()).isEqualTo(Kind.RETENTION);
			assertThat(finding.topic()).isEqualTo("orders");
			assertThat(finding.partition()).isEqualTo(3);
			assertThat(finding.offset()).isEqualTo(17);
			assertThat(finding.since()).isEqualTo(NOW.minusMillis(1));
			assertThat(finding).asString().contains("orders-3@17", "PT4H", "IN_FLIGHT");
		});
	}

	@Test
	void topicThatKeepsItsRecordsIsNoThreat() {
		assertThat(examine(NOW, null, null, Instant.EPOCH)).isEmpty();
	}

	@Test
	void commitsThatFailForAWhileAreAFinding() {
		assertThat(examine(NOW, NOW.minusSeconds(60), null, NOW)).isEmpty();
		assertThat(examine(NOW, NOW.minusSeconds(61), null, NOW)).singleElement().satisfies((finding) -> {
			assertThat(finding.kind()).isEqualTo(Kind.COMMITS_FAILING);
			assertThat(finding.offset()).isEqualTo(12);
			assertThat(finding.since()).isEqualTo(NOW.minusSeconds(61));
		});
	}

	@Test
	void watermarkThatDoesNotMoveIsAFinding() {
		assertThat(examine(NOW.minusSeconds(300), null, null, NOW)).isEmpty();
		assertThat(examine(NOW.minusSeconds(301), null, null, NOW)).singleElement().satisfies((finding) -> {
			assertThat(finding.kind()).isEqualTo(Kind.WATERMARK_STUCK);
			assertThat(finding.offset()).isEqualTo(17);
			assertThat(finding.text()).contains("attempt 2 after IOException");
		});
	}

	/** The head is offset 17 of orders-3, in flight; 12 is committed. */
	private static List<Finding> examine(Instant unmovedSince, @Nullable Instant failingSince,
			@Nullable Duration retention, Instant timestamp) {
		PartitionView view = new PartitionView(new TopicPartition("orders", 3), false, null,
				new PartitionView.Commit(12, 0, false, failingSince), 17, unmovedSince, 30,
				new LogBounds(0, 30, retention), 100, 13, 0, 13, List.of(13), new PartitionView.Head(17, timestamp,
						"default", Duration.ofSeconds(1), "IN_FLIGHT", 2, "IOException", null));
		List<Finding> findings = new ArrayList<>();
		Doctor.examine(view, SETTINGS, NOW, findings);
		return findings;
	}

	@Test
	void heldRecordIsReportedWhereOperatorsLook(CapturedOutput output) {
		String week = Long.toString(Duration.ofDays(7).toMillis());
		try (Trial trial = Trial.in(Broker.newTopic("held", 1, Map.of("retention.ms", week)))) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			Broker.send(new ProducerRecord<>(trial.topic(), 0, System.currentTimeMillis() - 6 * 24 * 3600 * 1000L, null,
					new byte[0]));
			trial.prepare((context) -> context.registerBean(MeterRegistry.class, () -> new SimpleMeterRegistry()));
			QueueApp app = trial.start("kafka-queue.doctor.interval=100ms", "kafka-queue.doctor.watermark-stuck=200ms",
					"spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=queues");
			MeterRegistry meters = app.bean(MeterRegistry.class);

			QueueApp.eventually().until(() -> kinds(app), List.of(Kind.RETENTION, Kind.WATERMARK_STUCK)::equals);

			HealthIndicator health = (HealthIndicator) Objects
				.requireNonNull(app.bean(QueuesHealth.class).getContributor(Trial.QUEUE));
			assertThat(Objects.requireNonNull(health.health()).getDetails()).extractingByKey("findings")
				.asString()
				.contains(trial.topic() + "-0@0");
			assertThat(Objects.requireNonNull(app.bean(QueuesEndpoint.class).detail(Trial.QUEUE)).findings())
				.hasSize(2);
			assertThat(meters.get(QueueMeters.FINDINGS).tag("kind", "retention").gauge().value()).isOne();
			assertThat(meters.get(QueueMeter.RETENTION_LEFT.meterName()).gauge().value()).isBetween(23 * 3600.0,
					24 * 3600.0);
			QueueApp.eventually().until(() -> output.toString().contains("RETENTION of queue 'trial'"));

			hold.release();
			trial.awaitAll(1);
			QueueApp.eventually().until(() -> kinds(app).isEmpty());
			QueueApp.eventually().until(() -> output.toString().contains("no longer so"));
			assertThat(meters.get(QueueMeter.RETENTION_LEFT.meterName()).gauge().value()).isNaN();
			assertThat(output.toString().split("RETENTION of queue 'trial', \\S+: " + trial.topic(), -1)).hasSize(2);
		}
	}

	@Test
	void commitsThatFailAreReportedUntilOneSucceeds() {
		try (Trial trial = Trial.on("failing", 1)) {
			AtomicBoolean failing = new AtomicBoolean(true);
			trial.tap(() -> (call) -> commitAsync(call, failing));
			trial.send(1, 3);
			QueueApp app = trial.start("kafka-queue.doctor.commits-failing=100ms");

			QueueApp.eventually().until(() -> kinds(app), List.of(Kind.COMMITS_FAILING)::equals);

			failing.set(false);
			trial.awaitAll(3);
			QueueApp.eventually().until(() -> kinds(app).isEmpty());
		}
	}

	@Test
	void O1_lagGrowsWhileAPartitionIsPaused() {
		try (Trial trial = Trial.on("paused", 1)) {
			trial.send(1, 10);
			QueueApp app = trial.start("kafka-queue.doctor.interval=100ms");
			trial.awaitAll(10);

			Trial.container(app).pause();
			QueueApp.eventually().until(() -> Trial.container(app).isContainerPaused());
			trial.send(1, 500);

			QueueApp.eventually().until(() -> Trial.queue(app).partitions().get(0).lag() == 500);
			Trial.container(app).resume();
			trial.awaitAll(510);
			QueueApp.eventually().until(() -> Trial.queue(app).partitions().get(0).lag() == 0);
		}
	}

	private static @Nullable Object commitAsync(ConsumerTap.Call call, AtomicBoolean failing) throws Throwable {
		OffsetCommitCallback callback = call.argument(OffsetCommitCallback.class);
		if (!call.name().equals("commitAsync") || callback == null || !failing.get()) {
			return call.proceed();
		}
		callback.onComplete(Map.of(), new RetriableCommitFailedException("Injected"));
		return null;
	}

	private static List<Kind> kinds(QueueApp app) {
		return app.bean(Doctor.class).findings(Trial.queue(app)).stream().map(Finding::kind).sorted().toList();
	}

}
