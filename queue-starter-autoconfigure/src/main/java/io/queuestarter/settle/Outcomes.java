package io.queuestarter.settle;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/**
 * Counts what became of the attempts of one queue or lane since it was created.
 * <em>Thread-safe.</em>
 */
public final class Outcomes {

	private final LongAdder acknowledged = new LongAdder();

	private final LongAdder retried = new LongAdder();

	private final LongAdder timedOut = new LongAdder();

	private final LongAdder late = new LongAdder();

	private final LongAdder abandoned = new LongAdder();

	private final LongAdder cancelled = new LongAdder();

	private final List<Outcomes> parts;

	/**
	 * Creates counters of zero.
	 */
	public Outcomes() {
		this(List.of());
	}

	/**
	 * Creates counters that count what others do.
	 * @param parts the others
	 */
	public Outcomes(List<Outcomes> parts) {
		this.parts = parts;
	}

	private long sum(LongAdder own, ToLongFunction<Outcomes> count) {
		return own.sum() + this.parts.stream().mapToLong(count).sum();
	}

	void acknowledged() {
		this.acknowledged.increment();
	}

	void retried() {
		this.retried.increment();
	}

	void timedOut() {
		this.timedOut.increment();
	}

	void late() {
		this.late.increment();
	}

	void cancelled() {
		this.cancelled.increment();
	}

	void abandoned() {
		this.abandoned.increment();
	}

	/**
	 * Records settled by their handler.
	 * @return the number
	 */
	public long acknowledgedCount() {
		return sum(this.acknowledged, Outcomes::acknowledgedCount);
	}

	/**
	 * Attempts that failed and were followed, or will be, by another.
	 * @return the number
	 */
	public long retriedCount() {
		return sum(this.retried, Outcomes::retriedCount);
	}

	/**
	 * Attempts that ended by their deadline.
	 * @return the number
	 */
	public long timedOutCount() {
		return sum(this.timedOut, Outcomes::timedOutCount);
	}

	/**
	 * Results that came after their attempt was cancelled and changed nothing: their work
	 * is done again.
	 * @return the number
	 */
	public long lateCount() {
		return sum(this.late, Outcomes::lateCount);
	}

	/**
	 * Records moved aside because they held a watermark.
	 * @return the number
	 */
	public long cancelledCount() {
		return sum(this.cancelled, Outcomes::cancelledCount);
	}

	/**
	 * Attempts cut off because their partition was taken away or the queue stopped; their
	 * records are delivered again.
	 * @return the number
	 */
	public long abandonedCount() {
		return sum(this.abandoned, Outcomes::abandonedCount);
	}

}
