package io.queuestarter.container;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may know of a partition, as of one moment.
 *
 * @param partition topic and number
 * @param paused whether its bounds, or a record that rests, keep it from being fetched
 * @param restsUntil when the next record of a retry topic is due, or {@code null} if none
 * rests
 * @param commit what is committed
 * @param watermark lowest offset not settled
 * @param unmovedSince since when there has been something to do and the watermark has not
 * moved; the moment itself if it moves or nothing is to do
 * @param next offset behind the last record admitted
 * @param log the log as last seen
 * @param window largest number of records tracked
 * @param tracked records tracked from the watermark on
 * @param settled those of them that are settled
 * @param outstanding records admitted and not settled
 * @param outstandingByLane the same of each lane served here, by its index
 * @param head the record that holds the watermark, or {@code null} if none does
 */
public record PartitionView(TopicPartition partition, boolean paused, @Nullable Instant restsUntil, Commit commit,
		long watermark, Instant unmovedSince, long next, LogBounds log, int window, int tracked, int settled,
		int outstanding, List<Integer> outstandingByLane, @Nullable Head head) {

	/**
	 * Offset last committed.
	 * @return the offset, or -1 if none is known
	 */
	public long committed() {
		return this.commit.offset();
	}

	/**
	 * End of the log as last seen.
	 * @return the offset, or -1 if not known
	 */
	public long end() {
		return this.log.end();
	}

	/**
	 * Records that the group has not committed.
	 * @return end minus committed offset, or -1 if one of them is not known
	 */
	public long lag() {
		return (end() < 0 || committed() < 0) ? -1 : end() - committed();
	}

	/**
	 * How full the window is.
	 * @return a share from 0 to 1
	 */
	public double fill() {
		return (double) this.tracked / this.window;
	}

	/**
	 * When the broker may delete the record that holds the watermark, by its age.
	 * @return the time, or {@code null} if no record does, or records are not deleted by
	 * age
	 */
	public @Nullable Instant expiry() {
		Duration retention = this.log.retention();
		return (this.head == null || retention == null) ? null : this.head.timestamp().plus(retention);
	}

	/**
	 * What is committed for the partition.
	 *
	 * @param offset offset last committed, or -1 if none is known
	 * @param metadataLength characters of metadata committed with it
	 * @param truncated whether the metadata had no room for all settled offsets
	 * @param failingSince since when no commit has succeeded, or {@code null} if the last
	 * one did
	 */
	public record Commit(long offset, int metadataLength, boolean truncated, @Nullable Instant failingSince) {

	}

	/**
	 * The record that holds the watermark.
	 *
	 * @param offset its offset
	 * @param timestamp its timestamp
	 * @param lane lane that it belongs to
	 * @param age time since it was admitted
	 * @param state where it stands
	 * @param attempt number of the attempt, 0 before the first
	 * @param error what the last attempt failed with, or {@code null}
	 * @param nextAttempt when its back-off ends, or {@code null} if it is in none
	 */
	public record Head(long offset, Instant timestamp, String lane, Duration age, String state, int attempt,
			@Nullable String error, @Nullable Instant nextAttempt) {

	}

}
