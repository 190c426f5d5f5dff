package io.queuestarter.sample;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Has a line printed every tick while the lanes run.
 */
final class LanesTable {

	private final Runnable line;

	private final Duration tick;

	LanesTable(Runnable line, Duration tick) {
		this.line = line;
		this.tick = tick;
	}

	/** Goes on for some time. */
	void play(Duration time) throws InterruptedException {
		playUntil(() -> false, time);
	}

	/** Goes on until something has come true; says whether it was in time. */
	boolean playUntil(BooleanSupplier end, Duration limit) throws InterruptedException {
		long next = System.nanoTime();
		for (long left = limit.toNanos(); left > 0; left -= this.tick.toNanos()) {
			next += Math.min(left, this.tick.toNanos());
			TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
			this.line.run();
			if (end.getAsBoolean()) {
				return true;
			}
		}
		return false;
	}

}
