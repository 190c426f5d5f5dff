package io.queuestarter.commit;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.AckedSetCodec.Encoded;

/**
 * What the broker is known to have committed for the partitions of one consumer, and what
 * has changed since. <em>Consumer thread only.</em>
 * <p>
 * A commit carries the watermark as offset, the offsets settled above it as metadata, and
 * the leader epoch, so that a client notices when the log was cut off below the
 * watermark. At most one commit is in flight; one whose outcome is a failure or unknown
 * is repeated with newer content, after the shorter of the interval and 100 milliseconds.
 */
public final class CommitLog {

	/** Shortest time between a failed commit and its repetition. */
	private static final long REPEAT_NANOS = 100_000_000;

	private final long intervalNanos;

	private final AckedSetCodec codec = new AckedSetCodec();

	private final Set<TopicPartition> owned = new HashSet<>();

	private final Map<TopicPartition, OffsetAndMetadata> acknowledged = new HashMap<>();

	/** Partitions of which the broker may hold what it has not acknowledged. */
	private final Set<TopicPartition> unsure = new HashSet<>();

	/** Partitions whose settled offsets did not all fit when last looked at. */
	private final Set<TopicPartition> truncated = new HashSet<>();

	private boolean inFlight;

	private boolean repeat;

	private long lastNanos;

	private int failures;

	private @Nullable Instant failingSince;

	/**
	 * Creates an empty log.
	 * @param intervalNanos time between commits
	 * @param nowNanos the time
	 */
	public CommitLog(long intervalNanos, long nowNanos) {
		this.intervalNanos = intervalNanos;
		this.lastNanos = nowNanos;
	}

	/**
	 * Begins a new assignment of a partition.
	 * @param partition the partition
	 * @param committed what the broker answered, or {@code null} if that is nothing
	 */
	public void assign(TopicPartition partition, @Nullable OffsetAndMetadata committed) {
		this.owned.add(partition);
		if (committed != null) {
			this.acknowledged.put(partition, committed);
		}
	}

	/**
	 * Ends the assignment of a partition.
	 * @param partition the partition
	 */
	public void close(TopicPartition partition) {
		this.owned.remove(partition);
		this.acknowledged.remove(partition);
		this.unsure.remove(partition);
		this.truncated.remove(partition);
	}

	/**
	 * The log of a partition begins anew, and with the old one the broker may have
	 * forgotten what was committed: all of it is a change.
	 * @param partition the partition
	 */
	public void renew(TopicPartition partition) {
		this.acknowledged.remove(partition);
		this.truncated.remove(partition);
	}

	/**
	 * Time until a commit should be made.
	 * @param nowNanos the time
	 * @return the nanoseconds, zero or less when it is due; {@link Long#MAX_VALUE} while
	 * one is in flight
	 */
	public long nanosUntilDue(long nowNanos) {
		if (this.inFlight) {
			return Long.MAX_VALUE;
		}
		long pause = this.repeat ? Math.min(this.intervalNanos, REPEAT_NANOS) : this.intervalNanos;
		return this.lastNanos + pause - nowNanos;
	}

	/**
	 * What has changed since the last acknowledged commit, or since one of which it is
	 * not known whether the broker took it.
	 * @param assignments the assignments to look at
	 * @return offset and metadata by partition, empty if nothing has changed
	 */
	public Map<TopicPartition, OffsetAndMetadata> changes(Collection<Assignment> assignments) {
		Map<TopicPartition, OffsetAndMetadata> changes = new HashMap<>();
		for (Assignment assignment : assignments) {
			long watermark = assignment.ledger().watermark();
			if (watermark < 0) {
				continue;
			}
			Encoded metadata = this.codec.encode(assignment.ledger(), assignment.begun());
			OffsetAndMetadata before = this.acknowledged.get(assignment.partition());
			if (before == null || this.unsure.contains(assignment.partition()) || before.offset() != watermark
					|| !before.metadata().equals(metadata.text())) {
				Optional<Integer> epoch = (assignment.leaderEpoch() >= 0) ? Optional.of(assignment.leaderEpoch())
						: Optional.empty();
				changes.put(assignment.partition(), new OffsetAndMetadata(watermark, epoch, metadata.text()));
			}
			if (metadata.truncated()) {
				this.truncated.add(assignment.partition());
			}
			else {
				this.truncated.remove(assignment.partition());
			}
		}
		return changes;
	}

	/**
	 * A look was taken at what to commit.
	 * @param nowNanos the time
	 * @param sent partitions of the commit that was sent, none if nothing was
	 */
	public void attempted(long nowNanos, Set<TopicPartition> sent) {
		this.lastNanos = nowNanos;
		this.repeat = false;
		this.inFlight = !sent.isEmpty();
		this.unsure.addAll(sent);
	}

	/**
	 * The broker acknowledged a commit.
	 * @param offsets what it acknowledged
	 */
	public void succeeded(Map<TopicPartition, OffsetAndMetadata> offsets) {
		this.inFlight = false;
		this.failures = 0;
		this.failingSince = null;
		this.unsure.removeAll(offsets.keySet());
		offsets.forEach((partition, offset) -> {
			if (this.owned.contains(partition)) {
				this.acknowledged.put(partition, offset);
			}
		});
	}

	/**
	 * A commit failed, or its outcome is unknown.
	 * @param now the time
	 */
	public void failed(Instant now) {
		if (this.failures == 0) {
			this.failingSince = now;
		}
		this.inFlight = false;
		this.repeat = true;
		this.failures++;
	}

	/**
	 * Commits that failed since the last success.
	 * @return the number
	 */
	public int failures() {
		return this.failures;
	}

	/**
	 * Since when no commit has succeeded.
	 * @return the time of the first failure since, or {@code null} if the last commit
	 * succeeded
	 */
	public @Nullable Instant failingSince() {
		return this.failingSince;
	}

	/**
	 * Offset last acknowledged for a partition.
	 * @param partition the partition
	 * @return the offset, or -1 if none is known
	 */
	public long committed(TopicPartition partition) {
		OffsetAndMetadata committed = this.acknowledged.get(partition);
		return (committed != null) ? committed.offset() : -1;
	}

	/**
	 * Length of the metadata last acknowledged for a partition.
	 * @param partition the partition
	 * @return the number of characters
	 */
	public int metadataLength(TopicPartition partition) {
		OffsetAndMetadata committed = this.acknowledged.get(partition);
		return (committed != null) ? committed.metadata().length() : 0;
	}

	/**
	 * Whether the metadata of a partition had no room for all settled offsets.
	 * @param partition the partition
	 * @return {@code true} if some at the far end were left out
	 */
	public boolean isTruncated(TopicPartition partition) {
		return this.truncated.contains(partition);
	}

}
