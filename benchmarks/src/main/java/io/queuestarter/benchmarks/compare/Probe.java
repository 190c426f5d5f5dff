package io.queuestarter.benchmarks.compare;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * The handler of all arms, and what it has seen. <em>Thread-safe.</em>
 * <p>
 * A value begins with the number of its record and the time at which it was to be sent,
 * on the scale of {@link System#nanoTime()}, or zero if nobody waits for it.
 */
final class Probe {

	/** As many as are in flight do not have to end before one that holds the others. */
	static final int SLACK = 1000;

	/** Some may have been lost. */
	private static final long HOLD_LIMIT_NANOS = TimeUnit.MINUTES.toNanos(1);

	/**
	 * Records at the end that do not fail: if nothing but failing ones were left, the
	 * queue would take it for an outage, and wait for a record that succeeds.
	 */
	private static final int SOUND = 10_000;

	private final Handlers handlers;

	private final int backlog;

	private final int soundFrom;

	private final Keys keys;

	/** Attempts that ended, by number of the record. */
	private final AtomicIntegerArray attempts;

	/** From the intended send time to the first start, by number of the paced record. */
	private final AtomicLongArray delays;

	private final LongAdder sound = new LongAdder();

	private final LongAdder ended = new LongAdder();

	private final LongAdder pacedEnded = new LongAdder();

	private final LongAdder duplicates = new LongAdder();

	Probe(Scenario scenario) {
		this.handlers = scenario.handlers();
		this.backlog = scenario.load().backlog();
		this.soundFrom = Math.max(this.backlog / 10 * 9, this.backlog - SOUND);
		this.keys = scenario.load().keys();
		this.attempts = new AtomicIntegerArray(scenario.load().records());
		this.delays = new AtomicLongArray(scenario.load().paced());
	}

	static byte[] value(int number, long intendedNanos, int size) {
		byte[] value = new byte[Math.max(size, Integer.BYTES + Long.BYTES)];
		ByteBuffer.wrap(value).putInt(number).putLong(intendedNanos);
		return value;
	}

	/**
	 * Handles a record.
	 * @param value its value
	 * @throws HandlerFailure if the record is one of those that always fail
	 */
	void handle(byte[] value) throws InterruptedException {
		ByteBuffer buffer = ByteBuffer.wrap(value);
		int number = buffer.getInt();
		if (number >= this.backlog) {
			this.delays.compareAndSet(number - this.backlog, 0, Math.max(1, System.nanoTime() - buffer.getLong()));
		}
		int millis = this.handlers.millisOf(number);
		for (int i = 0; millis > 0 && i < this.handlers.waits(); i++) {
			Thread.sleep(millis);
		}
		if (this.handlers.holds(number)) {
			hold(number);
		}
		if (this.keys.isAside(number)) {
			return;
		}
		int before = this.attempts.getAndIncrement(number);
		if (number < this.soundFrom && this.handlers.fails(number)) {
			if (before + 1 == Handlers.ATTEMPTS) {
				this.ended.increment();
			}
			else if (before >= Handlers.ATTEMPTS) {
				this.duplicates.increment();
			}
			throw new HandlerFailure(before + 1 >= Handlers.ATTEMPTS);
		}
		if (before > 0) {
			this.duplicates.increment();
			return;
		}
		this.sound.increment();
		this.ended.increment();
		if (number >= this.backlog) {
			this.pacedEnded.increment();
		}
	}

	private void hold(int number) throws InterruptedException {
		long enough = Math.min((long) number + this.handlers.holdEvery(), this.backlog) - SLACK;
		long start = System.nanoTime();
		while (ended() < enough && System.nanoTime() - start < HOLD_LIMIT_NANOS) {
			Thread.sleep(1);
		}
	}

	/** Records handled without a failure. */
	long sound() {
		return this.sound.sum();
	}

	/** Records handled or given up. */
	long ended() {
		return this.ended.sum();
	}

	long pacedEnded() {
		return this.pacedEnded.sum();
	}

	long duplicates() {
		return this.duplicates.sum();
	}

	/** Delays of the paced records, shortest first. */
	long[] delays() {
		long[] sorted = new long[this.delays.length()];
		Arrays.setAll(sorted, this.delays::get);
		Arrays.sort(sorted);
		return sorted;
	}

	/** A handler's failure, as cheap as one can be. */
	static final class HandlerFailure extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final boolean last;

		HandlerFailure(boolean last) {
			super("fails in each attempt", null, false, false);
			this.last = last;
		}

		/** Whether an arm that does not know when to give up should. */
		boolean isLast() {
			return this.last;
		}

	}

}
