package io.queuestarter.delivery;

import java.time.Duration;

/**
 * Longest time of an attempt: grows with each attempt of the same record that ended by
 * its deadline, since the next one would otherwise end the same way.
 *
 * @param initial longest time of the first attempt
 * @param multiplier factor for each attempt that timed out, at least 1
 * @param max longest time of any attempt
 */
public record AttemptTimeout(Duration initial, double multiplier, Duration max) {

	/**
	 * Longest time of the next attempt.
	 * @param timeouts number of attempts that timed out
	 * @return the nanoseconds
	 */
	long nanosAfter(int timeouts) {
		if (timeouts == 0) {
			return this.initial.toNanos();
		}
		return (long) Math.min(this.max.toNanos(), this.initial.toNanos() * Math.pow(this.multiplier, timeouts));
	}

}
