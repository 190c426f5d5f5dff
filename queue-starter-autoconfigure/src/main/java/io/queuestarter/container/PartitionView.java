package io.queuestarter.container;

import java.time.Duration;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may know of a partition, as of one moment.
 *
 * @param partition topic and number
 * @param paused whether its bounds keep it from being fetched
 * @param committed offset last committed, or -1 if none is known
 * @param watermark lowest offset not settled
 * @param next offset behind the last record admitted
 * @param end end of the log as last seen, or -1 if not known
 * @param window largest number of records tracked
 * @param tracked records tracked from the watermark on
 * @param settled those of them that are settled
 * @param outstanding records admitted and not settled
 * @param head the record that holds the watermark, or {@code null} if none does
 */
public record PartitionView(TopicPartition partition, boolean paused, long committed, long watermark, long next,
		long end, int window, int tracked, int settled, int outstanding, @Nullable Head head) {

	/**
	 * Records that the group has not committed.
	 * @return end minus committed offset, or -1 if one of them is not known
	 */
	public long lag() {
		return (this.end < 0 || this.committed < 0) ? -1 : this.end - this.committed;
	}

	/**
	 * How full the window is.
	 * @return a share from 0 to 1
	 */
	public double fill() {
		return (double) this.tracked / this.window;
	}

	/**
	 * The record that holds the watermark.
	 *
	 * @param offset its offset
	 * @param age time since it was admitted
	 * @param state where it stands
	 * @param attempt number of the attempt, 0 before the first
	 * @param error what the last attempt failed with, or {@code null}
	 */
	public record Head(long offset, Duration age, String state, int attempt, @Nullable String error) {

	}

}
