package io.queuestarter.container;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.OffsetRanges;

/**
 * Finds what retention deleted before it was fetched. <em>Consumer thread only.</em>
 */
/*
 * The client does not tell that it found its position gone; it goes on elsewhere. That
 * shows as a jump. With records behind it, the jump may be markers of transactions or
 * compaction as well, so the start of the log decides, which the client knows from the
 * same fetch: its metric 'records-lead' is the distance from there to the position.
 * Without a record to poll, all other jumps come with the next offsets of a poll, so that
 * one that does not is a position set anew.
 */
final class RetentionLoss {

	private static final Logger LOGGER = LoggerFactory.getLogger(RetentionLoss.class);

	/** Time between two looks at partitions of which nothing is polled. */
	private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final String queue;

	private final Consumer<?, ?> consumer;

	private final Intake intake;

	private final LongConsumer counter;

	private @Nullable String clientId;

	private long lookedNanos;

	RetentionLoss(String queue, Consumer<?, ?> consumer, Intake intake, LongConsumer counter, long now) {
		this.queue = queue;
		this.consumer = consumer;
		this.intake = intake;
		this.counter = counter;
		this.lookedNanos = now;
	}

	/** Looks at what the last poll brought, before it is admitted. */
	void polled(ConsumerRecords<byte[], byte[]> records) {
		for (TopicPartition partition : records.partitions()) {
			long expected = this.intake.expected(partition);
			long first = records.records(partition).get(0).offset();
			OffsetAndMetadata position = records.nextOffsets().get(partition);
			if (expected >= 0 && first > expected && position != null) {
				lost(partition, expected, Math.min(first, logStart(partition, position.offset())));
			}
		}
	}

	/** Looks at the positions of partitions of which nothing is polled. */
	void lookIfDue(long now) {
		if (now - this.lookedNanos < LOOK_NANOS) {
			return;
		}
		this.lookedNanos = now;
		for (Assignment assignment : this.intake.assignments()) {
			TopicPartition partition = assignment.partition();
			long expected = this.intake.expected(partition);
			long position = (expected >= 0) ? position(partition) : -1;
			if (position > expected) {
				lost(partition, expected, position);
				this.intake.reached(Map.of(partition, new OffsetAndMetadata(position)));
			}
		}
	}

	private void lost(TopicPartition partition, long from, long to) {
		long lost = to - from;
		for (Assignment assignment : this.intake.assignments()) {
			if (assignment.partition().equals(partition)) {
				OffsetRanges settled = assignment.ledger().settledAboveWatermark();
				lost -= settled.below(to).count() - settled.below(from).count();
			}
		}
		if (lost > 0) {
			this.counter.accept(lost);
			LOGGER.warn("{} records of '{}' were lost to retention: queue '{}' had not fetched them when offsets {} to "
					+ "{} were deleted", lost, partition, this.queue, from, to - 1);
		}
	}

	private long position(TopicPartition partition) {
		try {
			// Known only when the position is.
			return this.consumer.currentLag(partition).isPresent() ? this.consumer.position(partition, Duration.ZERO)
					: -1;
		}
		catch (KafkaException | IllegalStateException ex) {
			LOGGER.debug("Position of '{}' is not known", partition, ex);
			return -1;
		}
	}

	/** Start of the log, or 0 if the client does not tell. */
	private long logStart(TopicPartition partition, long position) {
		Metric metric = metric(partition, partition.topic());
		// Clients before 4.1 name the topic so.
		metric = (metric != null) ? metric : metric(partition, partition.topic().replace('.', '_'));
		return (metric != null && metric.metricValue() instanceof Double lead && !lead.isNaN())
				? position - lead.longValue() : 0;
	}

	private @Nullable Metric metric(TopicPartition partition, String topic) {
		Map<MetricName, ? extends Metric> metrics = this.consumer.metrics();
		if (this.clientId == null) {
			this.clientId = metrics.keySet()
				.stream()
				.map((name) -> name.tags().get("client-id"))
				.filter(Objects::nonNull)
				.findFirst()
				.orElse(null);
		}
		return (this.clientId == null) ? null
				: metrics.get(new MetricName("records-lead", "consumer-fetch-manager-metrics", "", Map.of("client-id",
						this.clientId, "topic", topic, "partition", Integer.toString(partition.partition()))));
	}

}
