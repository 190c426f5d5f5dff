package io.queuestarter.settle;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what became of the attempts of one queue since it was created.
 * <em>Thread-safe.</em>
 */
public final class Outcomes {

	private final LongAdder acknowledged = new LongAdder();

	private final LongAdder retried = new LongAdder();

	private final LongAdder timedOut = new LongAdder();

	private final LongAdder late = new LongAdder();

	private final LongAdder abandoned = new LongAdder();

	private final LongAdder cancelled = new LongAdder();

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
		return this.acknowledged.sum();
	}

	/**
	 * Attempts that failed and were followed, or will be, by another.
	 * @return the number
	 */
	public long retriedCount() {
		return this.retried.sum();
	}

	/**
	 * Attempts that ended by their deadline.
	 * @return the number
	 */
	public long timedOutCount() {
		return this.timedOut.sum();
	}

	/**
	 * Results that came after their attempt was cancelled and changed nothing: their work
	 * is done again.
	 * @return the number
	 */
	public long lateCount() {
		return this.late.sum();
	}

	/**
	 * Records moved aside because they held a watermark.
	 * @return the number
	 */
	public long cancelledCount() {
		return this.cancelled.sum();
	}

	/**
	 * Attempts cut off because their partition was taken away or the queue stopped; their
	 * records are delivered again.
	 * @return the number
	 */
	public long abandonedCount() {
		return this.abandoned.sum();
	}

}
