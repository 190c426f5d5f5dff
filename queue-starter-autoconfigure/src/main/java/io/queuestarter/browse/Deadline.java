package io.queuestarter.browse;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Time until which somebody waits. Immutable.
 */
final class Deadline {

	private final LongSupplier nanoTime;

	private final long end;

	Deadline(Duration time, LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.end = nanoTime.getAsLong() + time.toNanos();
	}

	/** What is left, at least 0. */
	Duration remaining() {
		return Duration.ofNanos(Math.max(0, this.end - this.nanoTime.getAsLong()));
	}

	boolean isOver() {
		return remaining().isZero();
	}

	/** What is left until this and until a time from now on are over. */
	Deadline within(Duration time) {
		Duration left = remaining();
		return new Deadline((left.compareTo(time) < 0) ? left : time, this.nanoTime);
	}

}
