package io.queuestarter.delivery;

import java.time.Instant;

/**
 * Where the stages read the time. <em>Thread-safe.</em>
 */
public interface TimeSource {

	/**
	 * The system's clocks.
	 */
	TimeSource SYSTEM = new TimeSource() {

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public Instant now() {
			return Instant.now();
		}

	};

	/**
	 * Nanoseconds since an arbitrary origin, never going back.
	 * @return the nanoseconds
	 */
	long nanoTime();

	/**
	 * Time of day.
	 * @return the instant
	 */
	Instant now();

}
