package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.commit.CommitLog;
import io.queuestarter.container.PartitionView.Head;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.intake.Intake;

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

	/** Volatile; written by the consumer thread. */
	private volatile List<PartitionView> latest = List.of();

	/** Consumer thread only. */
	private long takenNanos;

	PartitionViews(Consumer<?, ?> consumer, Intake intake, CommitLog commits) {
		this.consumer = consumer;
		this.intake = intake;
		this.commits = commits;
	}

	/** The last snapshot. Thread-safe. */
	List<PartitionView> latest() {
		return this.latest;
	}

	void takeIfDue(long now) {
		if (now - this.takenNanos >= INTERVAL_NANOS) {
			take(now);
		}
	}

	void take(long now) {
		this.takenNanos = now;
		List<PartitionView> current = new ArrayList<>();
		for (Assignment assignment : this.intake.assignments()) {
			current.add(view(assignment, now));
		}
		this.latest = List.copyOf(current);
	}

	private PartitionView view(Assignment assignment, long now) {
		TopicPartition partition = assignment.partition();
		return new PartitionView(partition, this.intake.isPaused(partition), this.commits.committed(partition),
				assignment.ledger().watermark(), assignment.ledger().next(), endOf(partition),
				assignment.ledger().window(), assignment.ledger().tracked(), assignment.ledger().settled(),
				assignment.outstanding(), headOf(assignment, now));
	}

	private static @Nullable Head headOf(Assignment assignment, long now) {
		Delivery head = assignment.ledger().head();
		if (head == null) {
			return null;
		}
		Attempt attempt = head.attempt();
		return new Head(head.offset(), Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(now - head.admittedNanos())),
				head.state().name(), (attempt != null) ? attempt.attempt() : 0, head.lastError());
	}

	private long endOf(TopicPartition partition) {
		try {
			OptionalLong lag = this.consumer.currentLag(partition);
			return lag.isPresent() ? lag.getAsLong() + this.consumer.position(partition, Duration.ZERO) : -1;
		}
		catch (KafkaException | IllegalStateException ex) {
			LOGGER.debug("End of '{}' is not known", partition, ex);
			return -1;
		}
	}

}
