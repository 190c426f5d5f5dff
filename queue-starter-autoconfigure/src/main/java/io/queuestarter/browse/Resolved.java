package io.queuestarter.browse;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;

import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

/**
 * Which dead letters of a partition are resolved: merged or purged. Kept as the commit of
 * a group whose members are jobs.
 *
 * @param watermark offset below which all are resolved
 * @param above offsets at or above the watermark that are resolved
 */
public record Resolved(long watermark, OffsetRanges above) {

	/**
	 * Nothing is resolved.
	 */
	public static final Resolved NOTHING = new Resolved(0, OffsetRanges.EMPTY);

	/**
	 * Group whose commits tell what is resolved.
	 * @param group consumer group of the queue
	 * @return the group
	 */
	public static String group(String group) {
		return group + ".dlq";
	}

	/**
	 * Reads a commit. One that was not written by a job, such as that of another consumer
	 * that bears the name of the group, or is damaged, counts as none; so does one beyond
	 * the end of the log, which is not the log that it was made of. What it told of is
	 * unresolved again, rather than lost from sight.
	 * @param commit the commit, or {@code null} if there is none
	 * @param end offset behind the last record of the log
	 * @return what is resolved
	 */
	public static Resolved of(@Nullable OffsetAndMetadata commit, long end) {
		if (commit == null || commit.metadata().isEmpty() || commit.offset() > end) {
			return NOTHING;
		}
		return AckedSetCodec.decode(commit.offset(), commit.metadata())
			.map((set) -> new Resolved(commit.offset(), set.settled()))
			.orElse(NOTHING);
	}

	/**
	 * Whether a dead letter is resolved.
	 * @param offset its offset
	 * @return {@code true} if it is
	 */
	public boolean contains(long offset) {
		return offset < this.watermark || this.above.contains(offset);
	}

	/**
	 * How many offsets of a log are not resolved.
	 * @param start begin of the log
	 * @param end offset behind the last one
	 * @return the number, at least 0
	 */
	public long unresolved(long start, long end) {
		long from = Math.max(start, this.watermark);
		if (from >= end) {
			return 0;
		}
		OffsetRanges.Builder within = new OffsetRanges.Builder();
		within.addAllFrom(this.above.below(end), from);
		return end - from - within.build().count();
	}

	/**
	 * Next offset that is not resolved.
	 * @param offset an offset
	 * @return it, or the lowest one above it that is not resolved
	 */
	long next(long offset) {
		long next = Math.max(offset, this.watermark);
		for (int range = 0; range < this.above.size(); range++) {
			if (next >= this.above.first(range) && next <= this.above.last(range)) {
				next = this.above.last(range) + 1;
			}
		}
		return next;
	}

	/**
	 * Previous offset that is not resolved.
	 * @param offset an offset
	 * @return it, or the highest one below it that is not resolved; below the watermark
	 * if there is none
	 */
	long previous(long offset) {
		long previous = offset;
		for (int range = this.above.size() - 1; range >= 0; range--) {
			if (previous >= this.above.first(range) && previous <= this.above.last(range)) {
				previous = this.above.first(range) - 1;
			}
		}
		return previous;
	}

}
