package io.queuestarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler to name the delay before the next attempt itself. The attempt
 * counts as failed: when the configured number is used up the record is dead-lettered,
 * unless dead-lettering is switched off.
 *
 * @since 0.1.0
 */
public class QueueRetryException extends QueueException {

	private static final long serialVersionUID = 1L;

	private final Duration delay;

	/**
	 * Asks for another attempt.
	 * @param delay time to wait, zero or more; more than a day is cut to a day
	 * @throws IllegalArgumentException if {@code delay} is negative
	 */
	public QueueRetryException(Duration delay) {
		this(delay, null);
	}

	/**
	 * Asks for another attempt because of {@code cause}.
	 * @param delay time to wait, zero or more; more than a day is cut to a day
	 * @param cause what caused it, or {@code null}
	 * @throws IllegalArgumentException if {@code delay} is negative
	 */
	public QueueRetryException(Duration delay, @Nullable Throwable cause) {
		super("Retry in " + delay, cause);
		if (delay.isNegative()) {
			throw new IllegalArgumentException("'delay' must not be negative: " + delay);
		}
		this.delay = delay;
	}

	/**
	 * Time to wait before the next attempt.
	 * @return the delay, never negative
	 */
	public final Duration getDelay() {
		return this.delay;
	}

}
