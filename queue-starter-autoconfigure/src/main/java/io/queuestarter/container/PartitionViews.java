package io.queuestarter.container;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.commit.CommitLog;
import io.queuestarter.container.PartitionView.Commit;
import io.queuestarter.container.PartitionView.Head;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.PartitionLedger;

/**
 * Takes the snapshots of one consumer's partitions that operators read. <em>Consumer
 * thread only</em>, except {@link #latest()}.
 */
final class PartitionViews {

	private static final Logger LOGGER = LoggerFactory.getLogger(PartitionViews.class);

	/** Time between two snapshots. */
	private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	private final Consumer<?, ?> consumer;

	private final Intake intake;

	private final CommitLog commits;

	private final Queue queue;

	private final TimeSource time;

	/** Volatile; written by the consumer thread. */
	private volatile List<PartitionView> latest = List.of();

	/** Consumer thread only. */
	private long takenNanos;

	/** Consumer thread only. */
	private Map<Assignment, Stand> stands = Map.of();

	PartitionViews(Consumer<?, ?> consumer, Intake intake, CommitLog commits, Queue queue, TimeSource time) {
		this.consumer = consumer;
		this.intake = intake;
		this.commits = commits;
		this.queue = queue;
		this.time = time;
	}

	/** The last snapshot. Thread-safe. */
	List<PartitionView> latest() {
		return this.latest;
	}

	void takeIfDue() {
		if (this.time.nanoTime() - this.takenNanos >= INTERVAL_NANOS) {
			take();
		}
	}

	void take() {
		this.takenNanos = this.time.nanoTime();
		Map<Assignment, Stand> before = this.stands;
		this.stands = new HashMap<>();
		List<PartitionView> current = new ArrayList<>();
		for (Assignment assignment : this.intake.assignments()) {
			current.add(view(assignment, before.get(assignment)));
		}
		this.latest = List.copyOf(current);
	}

	private PartitionView view(Assignment assignment, @Nullable Stand before) {
		TopicPartition partition = assignment.partition();
		PartitionLedger<Delivery> ledger = assignment.ledger();
		LogBounds log = logOf(partition);
		long watermark = ledger.watermark();
		Instant restsUntil = restsUntil(partition);
		boolean isBehind = ledger.tracked() > 0 || (log.end() > watermark && restsUntil == null);
		Stand stand = (before != null && before.watermark == watermark && isBehind) ? before
				: new Stand(watermark, this.time.now());
		this.stands.put(assignment, stand);
		Commit commit = new Commit(this.commits.committed(partition), this.commits.metadataLength(partition),
				this.commits.isTruncated(partition), this.commits.failingSince());
		return new PartitionView(partition, this.intake.isPaused(partition), restsUntil, commit, watermark, stand.since,
				ledger.next(), log, ledger.window(), ledger.tracked(), ledger.settled(), assignment.outstanding(),
				outstandingByLane(assignment), headOf(assignment));
	}

	private static List<Integer> outstandingByLane(Assignment assignment) {
		return IntStream.range(0, assignment.queues().lanes()).mapToObj(assignment::outstanding).toList();
	}

	private @Nullable Head headOf(Assignment assignment) {
		Delivery head = assignment.ledger().head();
		ConsumerRecord<?, ?> record = (head != null) ? head.record() : null;
		if (head == null || record == null) {
			return null;
		}
		Attempt attempt = head.attempt();
		long age = this.takenNanos - head.admittedNanos();
		return new Head(head.offset(), Instant.ofEpochMilli(record.timestamp()), head.context().lane(),
				Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(age)), head.state().name(),
				(attempt != null) ? attempt.attempt() : 0, head.lastError(), (head.state() == DeliveryState.BACKOFF)
						? this.time.now().plusNanos(head.waitsUntil() - this.takenNanos) : null);
	}

	private @Nullable Instant restsUntil(TopicPartition partition) {
		long nanos = this.intake.nanosUntilDue(partition);
		return (nanos != Long.MAX_VALUE) ? this.time.now().plusNanos(nanos) : null;
	}

	/** Of the consumer, which knows what it fetched, and the broker the later end. */
	private LogBounds logOf(TopicPartition partition) {
		LogBounds asked = this.queue.log(partition);
		return new LogBounds(asked.start(), Math.max(asked.end(), fetchedEnd(partition)), asked.retention());
	}

	private long fetchedEnd(TopicPartition partition) {
		try {
			OptionalLong lag = this.consumer.currentLag(partition);
			return lag.isPresent() ? lag.getAsLong() + this.consumer.position(partition, Duration.ZERO) : -1;
		}
		catch (KafkaException | IllegalStateException ex) {
			LOGGER.debug("End of '{}' is not known", partition, ex);
			return -1;
		}
	}

	/** Where a watermark stands, and since when. */
	private record Stand(long watermark, Instant since) {

	}

}
