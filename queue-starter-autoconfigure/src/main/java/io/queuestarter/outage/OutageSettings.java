package io.queuestarter.outage;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How outages are told from poison.
 *
 * @param breaker whether there is a circuit breaker
 * @param instance name of the resilience4j instance
 * @param keyHeader header whose value keeps breakers apart, or {@code null} for one
 * breaker
 * @param window how long successes count for the budget of records given up
 * @param free records per window that may be given up without successes
 * @param patience how long a record fails before it is given up without a sign that its
 * dependency answers
 */
public record OutageSettings(boolean breaker, String instance, @Nullable String keyHeader, Duration window, int free,
		Duration patience) {

	/**
	 * The same with a breaker of its own.
	 * @param name name of the resilience4j instance
	 * @return the settings
	 */
	public OutageSettings named(String name) {
		return new OutageSettings(this.breaker, name, this.keyHeader, this.window, this.free, this.patience);
	}

}
