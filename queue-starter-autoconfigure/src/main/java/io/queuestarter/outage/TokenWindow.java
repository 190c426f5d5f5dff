package io.queuestarter.outage;

import java.util.concurrent.atomic.LongAdder;

/**
 * A budget that is earned: every success brings a token, every record given up costs one,
 * and what was earned or spent longer ago than the window no longer counts. A few tokens
 * are free. So a downstream that answers nobody moves nothing to the dead-letter topic,
 * beyond what is free. <em>Thread-safe.</em>
 * <p>
 * Source of the rule: the dead-letter budget of Uber's uForwarder.
 */
/*
 * Earning is on the way of every record: it is one addition. What was added is booked to
 * a part of the window whenever somebody looks, at the latest by the timer.
 */
final class TokenWindow {

	private static final int PARTS = 60;

	private final LongAdder unbooked = new LongAdder();

	private final long partNanos;

	private final int free;

	/** Tokens earned less tokens spent, by part of the window. Guarded by this. */
	private final long[] earned = new long[PARTS];

	/** Guarded by this. */
	private final long[] spent = new long[PARTS];

	/** Number of the newest part. Guarded by this. */
	private long newest;

	/**
	 * Creates a budget of which only the free tokens are there.
	 * @param windowNanos how long tokens count
	 * @param free tokens per window that need not be earned
	 * @param nowNanos the time
	 */
	TokenWindow(long windowNanos, int free, long nowNanos) {
		this.partNanos = Math.max(1, windowNanos / PARTS);
		this.free = free;
		this.newest = Math.floorDiv(nowNanos, this.partNanos);
	}

	void earn() {
		this.unbooked.increment();
	}

	/** Books what was earned since somebody looked last. */
	synchronized void book(long nowNanos) {
		long part = Math.floorDiv(nowNanos, this.partNanos);
		long passed = Math.min(part - this.newest, PARTS);
		for (long i = 1; i <= passed; i++) {
			int index = index(this.newest + i);
			this.earned[index] = 0;
			this.spent[index] = 0;
		}
		if (passed > 0) {
			this.newest = part;
		}
		this.earned[index(this.newest)] += this.unbooked.sumThenReset();
	}

	synchronized boolean tryTake(long nowNanos) {
		if (available(nowNanos) <= 0) {
			return false;
		}
		this.spent[index(this.newest)]++;
		return true;
	}

	/** Gives back what was taken and not needed. */
	void refund() {
		this.unbooked.increment();
	}

	/** Tokens that could be taken now. */
	synchronized long available(long nowNanos) {
		book(nowNanos);
		long available = this.free;
		for (int part = 0; part < PARTS; part++) {
			available += this.earned[part] - this.spent[part];
		}
		return available;
	}

	private static int index(long part) {
		return (int) Math.floorMod(part, (long) PARTS);
	}

}
