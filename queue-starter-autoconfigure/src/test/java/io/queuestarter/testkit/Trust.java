package io.queuestarter.testkit;

import java.time.Duration;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;

import io.queuestarter.outage.Circuit;
import io.queuestarter.outage.Circuits;
import io.queuestarter.outage.OutageSettings;

/**
 * Circuits that let everything pass and everything be given up.
 */
public final class Trust {

	private Trust() {
	}

	/** Circuits of a queue. */
	public static Circuits circuits() {
		return new Circuits(
				new OutageSettings(false, "trust", null, Duration.ofMinutes(5), Integer.MAX_VALUE, Duration.ZERO),
				CircuitBreakerRegistry.ofDefaults(), null, () -> 0);
	}

	/** One circuit. */
	public static Circuit circuit() {
		return circuits().of(null);
	}

}
