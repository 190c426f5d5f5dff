package io.queuestarter.retry;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * Exponential back-off with full jitter: the delay before attempt {@code n + 1} is a
 * random part of {@code initial * multiplier^(n - 1)}, capped, so that records that
 * failed together do not come back together. <em>Thread-safe.</em>
 * <p>
 * Source of the rule: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture
 * Blog, 2015.
 */
public final class Backoff {

	private final double initialNanos;

	private final double multiplier;

	private final double maxNanos;

	private final DoubleSupplier random;

	/**
	 * Creates a back-off.
	 * @param initial largest delay after the first attempt; zero retries at once
	 * @param multiplier factor from one attempt to the next, at least 1
	 * @param max largest delay after any attempt
	 * @param random uniform numbers from 0 to 1
	 */
	public Backoff(Duration initial, double multiplier, Duration max, DoubleSupplier random) {
		this.initialNanos = initial.toNanos();
		this.multiplier = multiplier;
		this.maxNanos = max.toNanos();
		this.random = random;
	}

	/**
	 * Delay before the next attempt.
	 * @param failedAttempts number of attempts that failed, from 1
	 * @return the delay, zero or more
	 */
	public Duration after(int failedAttempts) {
		double ceiling = Math.min(this.maxNanos, this.initialNanos * Math.pow(this.multiplier, failedAttempts - 1));
		return Duration.ofNanos((long) (ceiling * this.random.getAsDouble()));
	}

	/**
	 * Spreads what would happen at one moment.
	 * @param most largest delay
	 * @return a random delay, at least half of it
	 */
	public Duration spread(Duration most) {
		return Duration.ofNanos((long) (most.toNanos() * (1 + this.random.getAsDouble()) / 2));
	}

}
