package io.queuestarter.jobs;

import java.util.Map;
import java.util.TreeMap;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.Resolved;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.AckedSetCodec.Encoded;
import io.queuestarter.ledger.OffsetRanges;

/**
 * Which dead letters of one partition are resolved, while a job adds to them. <em>Job
 * thread only.</em>
 */
final class ResolvedOffsets {

	/** Offsets from the watermark on of which each subset fits into a commit. */
	private static final long BITMAP_SPAN = 24_000;

	/** Bytes that ranges may take that lie further apart. */
	private static final int RUN_BYTES = 3_000;

	private static final int BITS_OF_A_BYTE = 7;

	private long watermark;

	/** First and last offsets of ranges above the watermark that do not touch. */
	private final TreeMap<Long, Long> ranges = new TreeMap<>();

	private boolean changed;

	/** Letters that may be resolved soon. */
	private int pending;

	/** Most bytes that the ranges take, of which {@link #uncounted} are not part. */
	private long bytes;

	private int uncounted;

	/**
	 * Continues from what earlier jobs have resolved.
	 * @param before what was committed
	 * @param start first offset that the log holds
	 */
	ResolvedOffsets(Resolved before, long start) {
		this.watermark = before.watermark();
		OffsetRanges above = before.above();
		for (int range = 0; range < above.size(); range++) {
			addRange(above.first(range), above.last(range));
		}
		addBelow(start);
		count();
		this.changed = false;
	}

	/**
	 * Whether a commit can tell of an offset too, and of all those pending, whichever of
	 * these are resolved in the end.
	 * @param offset an offset
	 * @return {@code false} if it should not be resolved now
	 */
	boolean hasRoom(long offset) {
		if (offset - this.watermark < BITMAP_SPAN) {
			return true;
		}
		int most = bytesOf(offset - this.watermark) + 1;
		if (this.bytes + (long) (this.uncounted + this.pending + 1) * most <= RUN_BYTES) {
			return true;
		}
		count();
		return this.bytes + (long) (this.pending + 1) * most <= RUN_BYTES;
	}

	private void count() {
		long position = this.watermark;
		this.bytes = 0;
		this.uncounted = 0;
		for (Map.Entry<Long, Long> range : this.ranges.entrySet()) {
			this.bytes += bytesOf(range.getKey() - position) + bytesOf(range.getValue() - range.getKey() + 1);
			position = range.getValue() + 1;
		}
	}

	private static int bytesOf(long number) {
		return (Long.SIZE - Long.numberOfLeadingZeros(number | 1) + BITS_OF_A_BYTE - 1) / BITS_OF_A_BYTE;
	}

	/** A letter is under way that may be resolved. */
	void begin() {
		this.pending++;
	}

	/** A letter is not under way any more. */
	void end() {
		this.pending--;
	}

	/** Whether letters are under way. */
	boolean isPending() {
		return this.pending > 0;
	}

	/**
	 * Resolves an offset.
	 * @param offset the offset
	 */
	void add(long offset) {
		addRange(offset, offset);
	}

	/**
	 * Resolves all offsets below another.
	 * @param end that offset
	 */
	void addBelow(long end) {
		if (end > this.watermark) {
			addRange(this.watermark, end - 1);
		}
	}

	/**
	 * Passes offsets that hold no record; where there is no room to remember them, they
	 * are found out again.
	 * @param first first of them
	 * @param last last of them
	 */
	void addHole(long first, long last) {
		if (first <= this.watermark || hasRoom(last)) {
			addRange(first, last);
		}
	}

	private void addRange(long first, long last) {
		long from = first;
		long to = last;
		Map.Entry<Long, Long> near = this.ranges.floorEntry(to + 1);
		while (near != null && near.getValue() >= from - 1) {
			from = Math.min(from, near.getKey());
			to = Math.max(to, near.getValue());
			this.ranges.remove(near.getKey());
			near = this.ranges.floorEntry(to + 1);
		}
		this.changed = true;
		this.uncounted++;
		if (from <= this.watermark) {
			this.watermark = Math.max(this.watermark, to + 1);
		}
		else {
			this.ranges.put(from, to);
		}
	}

	boolean contains(long offset) {
		if (offset < this.watermark) {
			return true;
		}
		Map.Entry<Long, Long> range = this.ranges.floorEntry(offset);
		return range != null && range.getValue() >= offset;
	}

	/** Lowest offset that is not resolved. */
	long watermark() {
		return this.watermark;
	}

	/**
	 * What is to be committed.
	 * @param codec writes the metadata
	 * @return offset and metadata, or {@code null} if nothing has changed since
	 * @throws ResolvedSetFullException if the metadata has no room for all of it
	 */
	@Nullable OffsetAndMetadata changes(AckedSetCodec codec) {
		if (!this.changed) {
			return null;
		}
		OffsetRanges.Builder builder = new OffsetRanges.Builder();
		this.ranges.forEach(builder::add);
		// With an end of what was begun there is a text, also if nothing lies above.
		Encoded metadata = codec.encode(this.watermark, new AckedSet(builder.build(), this.watermark + 1));
		if (metadata.truncated()) {
			throw new ResolvedSetFullException();
		}
		this.changed = false;
		return new OffsetAndMetadata(this.watermark, metadata.text());
	}

	/** The last commit failed or its outcome is unknown. */
	void touch() {
		this.changed = true;
	}

}
