package io.queuestarter.ledger;

import java.util.Arrays;

/**
 * Immutable set of offsets, kept as ascending ranges that neither touch nor overlap.
 * <em>Thread-safe.</em>
 */
public final class OffsetRanges {

	/**
	 * The set without an offset.
	 */
	public static final OffsetRanges EMPTY = new OffsetRanges(new long[0], 0);

	private final long[] bounds;

	private final int ranges;

	private OffsetRanges(long[] bounds, int ranges) {
		this.bounds = bounds;
		this.ranges = ranges;
	}

	/**
	 * Number of ranges.
	 * @return the number of ranges
	 */
	public int size() {
		return this.ranges;
	}

	/**
	 * Whether the set holds no offset.
	 * @return {@code true} if empty
	 */
	public boolean isEmpty() {
		return this.ranges == 0;
	}

	/**
	 * First offset of a range.
	 * @param range number of the range, from 0
	 * @return the offset
	 */
	public long first(int range) {
		return this.bounds[2 * range];
	}

	/**
	 * Last offset of a range.
	 * @param range number of the range, from 0
	 * @return the offset, included in the range
	 */
	public long last(int range) {
		return this.bounds[2 * range + 1];
	}

	/**
	 * Number of offsets in the set.
	 * @return the number of offsets
	 */
	public long count() {
		long count = 0;
		for (int range = 0; range < this.ranges; range++) {
			count += last(range) - first(range) + 1;
		}
		return count;
	}

	/**
	 * Whether the set holds an offset.
	 * @param offset an offset
	 * @return {@code true} if it does
	 */
	public boolean contains(long offset) {
		int range = rangeFrom(offset);
		return range < this.ranges && first(range) <= offset;
	}

	/** Number of the first range that does not end below the offset. */
	private int rangeFrom(long offset) {
		int low = 0;
		int high = this.ranges;
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (last(middle) < offset) {
				low = middle + 1;
			}
			else {
				high = middle;
			}
		}
		return low;
	}

	/**
	 * What the set holds below an offset.
	 * @param offset an offset
	 * @return a set without {@code offset} and what lies above it
	 */
	public OffsetRanges below(long offset) {
		Builder below = new Builder();
		for (int range = 0; range < this.ranges && first(range) < offset; range++) {
			below.add(first(range), Math.min(last(range), offset - 1));
		}
		return below.build();
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof OffsetRanges that
				&& Arrays.equals(this.bounds, 0, 2 * this.ranges, that.bounds, 0, 2 * that.ranges);
	}

	@Override
	public int hashCode() {
		int hash = 1;
		for (int i = 0; i < 2 * this.ranges; i++) {
			hash = 31 * hash + Long.hashCode(this.bounds[i]);
		}
		return hash;
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder("[");
		for (int range = 0; range < this.ranges; range++) {
			text.append((range > 0) ? ", " : "").append(first(range)).append('-').append(last(range));
		}
		return text.append(']').toString();
	}

	/**
	 * Collects ascending ranges and joins those that touch. <em>Not thread-safe.</em>
	 */
	public static final class Builder {

		private long[] bounds = new long[16];

		private int ranges;

		/**
		 * Adds a range behind all others.
		 * @param first first offset, above the last offset added so far
		 * @param last last offset, included
		 */
		public void add(long first, long last) {
			if (last < first || (this.ranges > 0 && first <= this.bounds[2 * this.ranges - 1])) {
				throw new IllegalArgumentException("Range " + first + "-" + last + " is empty or not ascending");
			}
			if (this.ranges > 0 && first == this.bounds[2 * this.ranges - 1] + 1) {
				this.bounds[2 * this.ranges - 1] = last;
				return;
			}
			if (2 * this.ranges == this.bounds.length) {
				this.bounds = Arrays.copyOf(this.bounds, 2 * this.bounds.length);
			}
			this.bounds[2 * this.ranges] = first;
			this.bounds[2 * this.ranges + 1] = last;
			this.ranges++;
		}

		/**
		 * Adds what another set holds from an offset on.
		 * @param other the other set
		 * @param from lowest offset to add
		 */
		public void addAllFrom(OffsetRanges other, long from) {
			addAll(other, from, Long.MAX_VALUE);
		}

		/**
		 * Adds what another set holds between two offsets.
		 * @param other the other set
		 * @param from lowest offset to add
		 * @param end offset behind the highest to add
		 */
		void addAll(OffsetRanges other, long from, long end) {
			for (int range = other.rangeFrom(from); range < other.size() && other.first(range) < end; range++) {
				add(Math.max(other.first(range), from), Math.min(other.last(range), end - 1));
			}
		}

		/**
		 * Forgets all ranges, and keeps the memory they took.
		 */
		public void clear() {
			this.ranges = 0;
		}

		int size() {
			return this.ranges;
		}

		long first(int range) {
			return this.bounds[2 * range];
		}

		long last(int range) {
			return this.bounds[2 * range + 1];
		}

		/**
		 * Makes the set.
		 * @return the set of all offsets added
		 */
		public OffsetRanges build() {
			return (this.ranges == 0) ? EMPTY
					: new OffsetRanges(Arrays.copyOf(this.bounds, 2 * this.ranges), this.ranges);
		}

	}

}
