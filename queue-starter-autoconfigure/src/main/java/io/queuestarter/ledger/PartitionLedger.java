package io.queuestarter.ledger;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Acknowledgement state of one partition during one assignment.
 * <p>
 * <em>Consumer thread only</em>, except {@link #settle(long)}, {@link #isHead(long)},
 * {@link #isFull()} and {@link #forEachOutstanding(Consumer)}, which are thread-safe.
 *
 * @param <E> what is kept for a record while it is not settled
 */
/*
 * A dense ring indexed by arrival: the n-th record appended has sequence n, whatever its
 * offset, so offsets that the broker never delivers (transaction markers, compaction,
 * retention) take no room and settle by themselves. The ring is made of segments, which
 * are there only between head and tail: a partition in which little is outstanding holds
 * little, however large its window. One that the head has left is the tail's next.
 *
 * The consumer thread writes offsets and entries before it hands a record on. Any thread
 * settles a sequence, at most once: it lets go of the entry, then sets the sequence's bit
 * with an atomic or. The consumer thread alone moves the head over set bits, and clears a
 * word of bits when the head has left it. The ring is longer than the window by more than
 * a segment, so the tail never reaches one that the head has not left; and since a
 * sequence is settled once, no bit is set in a word that was cleared. Nobody but the
 * consumer thread looks for the segment of a sequence that is settled.
 *
 * Whoever settles a sequence looks afterwards whether it holds the head, to tell the
 * consumer thread; and that thread, having moved the head, looks at the bit of the new
 * head once more. So one of the two always sees the other.
 *
 * The watermark is the offset of the head, or the next offset if nothing is tracked.
 */
public final class PartitionLedger<E> {

	private static final int WORD = Long.SIZE;

	private final int window;

	private final OffsetRanges restored;

	/**
	 * Written by the consumer thread: those of sequences in the window stay, and are
	 * published by the tail.
	 */
	private final @Nullable Segment<E>[] segments;

	/** Left by the head, and not yet taken by the tail. */
	private @Nullable Segment<E> spare;

	private volatile long head;

	private volatile long tail;

	private long next;

	/**
	 * Creates an empty ledger.
	 * @param window largest number of records tracked at one time
	 * @param watermark offset that the partition continues from
	 * @param restored offsets at or above the watermark that an earlier owner settled
	 */
	public PartitionLedger(int window, long watermark, OffsetRanges restored) {
		if (window < 1) {
			throw new IllegalArgumentException("'window' must be at least 1: " + window);
		}
		this.window = window;
		this.segments = newSegments(Integer.highestOneBit((window - 1) / Segment.SIZE + 1) << 1);
		this.restored = restored;
		this.next = watermark;
	}

	@SuppressWarnings("unchecked")
	private static <E> @Nullable Segment<E>[] newSegments(int number) {
		return (Segment<E>[]) new Segment<?>[number];
	}

	/**
	 * Whether an earlier owner of the partition has settled the offset already.
	 * @param offset an offset
	 * @return {@code true} if the record must not run again
	 */
	public boolean isRestored(long offset) {
		return this.restored.contains(offset);
	}

	/**
	 * Whether the window is full: {@link #append} would be refused. Thread-safe.
	 * @return {@code true} if no record can be tracked now
	 */
	public boolean isFull() {
		return this.tail - this.head >= this.window;
	}

	/**
	 * Tracks a record.
	 * @param offset its offset, at least {@link #next()}
	 * @param entry what to keep until it is settled
	 * @return its sequence, for {@link #settle(long)}
	 * @throws IllegalStateException if the window is full or the offset went back
	 */
	public long append(long offset, E entry) {
		return track(offset, entry);
	}

	/**
	 * Tracks a record that is settled already, so that later commits keep saying so.
	 * @param offset its offset, at least {@link #next()}
	 * @throws IllegalStateException if the window is full or the offset went back
	 */
	public void appendSettled(long offset) {
		settle(track(offset, null));
	}

	private long track(long offset, @Nullable E entry) {
		long sequence = this.tail;
		if (sequence - this.head >= this.window) {
			throw new IllegalStateException("Window of " + this.window + " records is full at offset " + offset);
		}
		if (offset < this.next) {
			throw new IllegalStateException("Offset " + offset + " is below the next expected " + this.next);
		}
		Segment<E> segment = segment(sequence);
		if (segment == null) {
			segment = (this.spare != null) ? this.spare : new Segment<>();
			this.spare = null;
			this.segments[place(sequence)] = segment;
		}
		int index = Segment.index(sequence);
		segment.offsets[index] = offset;
		segment.entries.lazySet(index, entry);
		this.next = offset + 1;
		this.tail = sequence + 1;
		return sequence;
	}

	/**
	 * Settles a sequence and lets go of its entry. Thread-safe; never blocks; to be
	 * called at most once for a sequence.
	 * @param sequence what {@link #append} returned
	 * @throws IllegalStateException if the sequence is not in the window: never appended,
	 * or passed by the head
	 */
	public void settle(long sequence) {
		Segment<E> segment = (sequence >= this.head && sequence < this.tail) ? segment(sequence) : null;
		if (segment == null) {
			throw new IllegalStateException("Sequence " + sequence + " is not in the window");
		}
		segment.settle(Segment.index(sequence));
	}

	/**
	 * Moves the head over what is settled.
	 * @return the watermark
	 */
	public long advance() {
		long end = this.tail;
		long position;
		do {
			position = passSettled(this.head, end);
			this.head = position;
		}
		while (position < end && isSettled(position));
		return watermark();
	}

	private long passSettled(long from, long end) {
		long position = from;
		while (position < end) {
			Segment<E> segment = present(position);
			int index = Segment.index(position);
			long reached = Math.min(position + segment.settledFrom(index), end);
			if (reached == position) {
				break;
			}
			if (reached / WORD != position / WORD) {
				segment.bits.set(index / WORD, 0);
			}
			if (reached / Segment.SIZE != position / Segment.SIZE) {
				this.segments[place(position)] = null;
				this.spare = segment;
			}
			position = reached;
		}
		return position;
	}

	private boolean isSettled(long sequence) {
		return present(sequence).isSettled(Segment.index(sequence));
	}

	/**
	 * Lowest offset that is not known to be settled; as of the last {@link #advance()}.
	 * @return the offset to commit
	 */
	public long watermark() {
		return (this.head == this.tail) ? this.next : offset(this.head);
	}

	/**
	 * Lowest offset that {@link #append} accepts.
	 * @return last appended offset plus one, or where the partition continues from
	 */
	public long next() {
		return this.next;
	}

	/**
	 * Passes offsets that hold no record for this consumer, up to {@code position}. Does
	 * nothing while a record is tracked or if the position is not ahead.
	 * @param position offset of the next record to fetch
	 */
	public void follow(long position) {
		if (this.head == this.tail && position > this.next) {
			this.next = position;
		}
	}

	/**
	 * Number of records in the window: settled or not, from the head on.
	 * @return the number tracked
	 */
	public int tracked() {
		return (int) (this.tail - this.head);
	}

	/**
	 * Number of records in the window that are settled.
	 * @return the number settled above the watermark
	 */
	public int settled() {
		int count = -Segment.index(this.head) % WORD;
		for (long first = this.head - Segment.index(this.head); first < this.tail; first += Segment.SIZE) {
			count += present(first).settled();
		}
		return count;
	}

	/**
	 * Largest number of records tracked at one time.
	 * @return the window
	 */
	public int window() {
		return this.window;
	}

	/**
	 * Whether the sequence holds the watermark. Thread-safe. Asked after
	 * {@link #settle(long)} the answer is {@code false} only if {@link #advance()} has
	 * seen or will see the sequence settled without being told.
	 * @param sequence what {@link #append} returned
	 * @return {@code true} if it was the head at the last {@link #advance()}
	 */
	public boolean isHead(long sequence) {
		return this.head == sequence;
	}

	/**
	 * Entry of the record that holds the watermark.
	 * @return the entry, or {@code null} if nothing is tracked or it was just settled
	 */
	public @Nullable E head() {
		return (this.head == this.tail) ? null : present(this.head).entry(this.head);
	}

	/**
	 * Visits the entries of records that are not settled, lowest offset first.
	 * Thread-safe; records that are appended or settled meanwhile may be missed, or
	 * visited twice.
	 * @param visitor called for each entry
	 */
	public void forEachOutstanding(Consumer<? super E> visitor) {
		long end = this.tail;
		for (long sequence = this.head; sequence < end; sequence++) {
			Segment<E> segment = segment(sequence);
			E entry = (segment != null) ? segment.entry(sequence) : null;
			if (entry != null) {
				visitor.accept(entry);
			}
		}
	}

	/**
	 * Offset behind the highest record that is settled or meets a condition.
	 * @param condition asked of entries from the highest offset down
	 * @return the offset, or the watermark if there is no such record
	 */
	public long endOf(Predicate<? super E> condition) {
		for (long sequence = this.tail - 1; sequence >= this.head; sequence--) {
			E entry = present(sequence).entry(sequence);
			if (entry == null || condition.test(entry)) {
				return offset(sequence) + 1;
			}
		}
		return watermark();
	}

	/**
	 * Offsets at or above the watermark that are settled: of this assignment, and those
	 * restored that were not delivered. Offsets in front of a settled record that the
	 * broker did not deliver are included.
	 * @return the settled offsets
	 */
	public OffsetRanges settledAboveWatermark() {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		collectSettled(ranges);
		return ranges.build();
	}

	/** Adds what {@link #settledAboveWatermark()} answers to an empty builder. */
	void collectSettled(OffsetRanges.Builder ranges) {
		long end = this.tail;
		if (this.head < end) {
			Segment<E> segment = present(this.head);
			long previous = watermark() - 1;
			long word = 0;
			for (long sequence = this.head; sequence < end; sequence++) {
				int index = Segment.index(sequence);
				segment = (index == 0) ? present(sequence) : segment;
				if (sequence == this.head || index % WORD == 0) {
					word = segment.bits.get(index / WORD);
				}
				long offset = segment.offsets[index];
				if ((word & (1L << index)) != 0) {
					ranges.add(previous + 1, offset);
				}
				else if (offset - previous > 1) {
					ranges.addAll(this.restored, previous + 1, offset);
				}
				previous = offset;
			}
		}
		ranges.addAllFrom(this.restored, this.next);
	}

	private long offset(long sequence) {
		return present(sequence).offsets[Segment.index(sequence)];
	}

	private int place(long sequence) {
		return (int) (sequence / Segment.SIZE) & (this.segments.length - 1);
	}

	private @Nullable Segment<E> segment(long sequence) {
		return this.segments[place(sequence)];
	}

	/** Segment of a sequence in the window. */
	private Segment<E> present(long sequence) {
		return Objects.requireNonNull(segment(sequence));
	}

	/**
	 * A run of sequences.
	 *
	 * @param <E> what is kept for a record while it is not settled
	 */
	private static final class Segment<E> {

		static final int SIZE = 256;

		private final long[] offsets = new long[SIZE];

		private final AtomicReferenceArray<@Nullable E> entries = new AtomicReferenceArray<>(SIZE);

		private final AtomicLongArray bits = new AtomicLongArray(SIZE / WORD);

		static int index(long sequence) {
			return (int) sequence & (SIZE - 1);
		}

		@Nullable E entry(long sequence) {
			return this.entries.get(index(sequence));
		}

		void settle(int index) {
			this.entries.lazySet(index, null);
			long bit = 1L << index;
			int word = index / WORD;
			long before = this.bits.get(word);
			while (!this.bits.weakCompareAndSetVolatile(word, before, before | bit)) {
				before = this.bits.get(word);
			}
		}

		boolean isSettled(int index) {
			return (this.bits.get(index / WORD) & (1L << index)) != 0;
		}

		/** How many in a row are settled, from one on to the end of its word at most. */
		int settledFrom(int index) {
			int bit = index % WORD;
			return Math.min(Long.numberOfTrailingZeros(~(this.bits.get(index / WORD) >>> bit)), WORD - bit);
		}

		int settled() {
			int count = 0;
			for (int word = 0; word < SIZE / WORD; word++) {
				count += Long.bitCount(this.bits.get(word));
			}
			return count;
		}

	}

}
