package io.queuestarter.outage;

import java.util.concurrent.locks.ReentrantLock;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.Metrics;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.log.LogLimit;

/**
 * Looks at the state of a breaker, and counts and logs its changes. <em>Thread-safe.</em>
 */
/*
 * Not a consumer of the breaker's events: as soon as there is one, whatever it wants to
 * hear of, the breaker builds an event for each outcome. What changed and was undone
 * between two looks shows by the metrics, which are new whenever the breaker becomes
 * closed or half open.
 */
final class BreakerWatch {

	private static final Logger LOGGER = LoggerFactory.getLogger(BreakerWatch.class);

	private final CircuitBreaker breaker;

	private final LogLimit warnings;

	private final ReentrantLock lock = new ReentrantLock();

	/** Volatile; written under the lock, after the openings that it counts. */
	private volatile Sight seen;

	/** Volatile; written under the lock. */
	private volatile int openings;

	BreakerWatch(CircuitBreaker breaker, LogLimit warnings) {
		this.breaker = breaker;
		this.warnings = warnings;
		this.seen = sight();
	}

	/** The state now. */
	State look() {
		Sight last = this.seen;
		boolean same = this.breaker.getState() == last.state && this.breaker.getMetrics() == last.metrics;
		return same ? last.state : changed();
	}

	/** State and metrics of one moment. */
	private Sight sight() {
		Metrics metrics = this.breaker.getMetrics();
		while (true) {
			State state = this.breaker.getState();
			Metrics after = this.breaker.getMetrics();
			if (metrics == after) {
				return new Sight(state, metrics);
			}
			metrics = after;
		}
	}

	private State changed() {
		State before;
		State current;
		this.lock.lock();
		try {
			before = this.seen.state;
			Sight sight = sight();
			current = sight.state;
			if (!sight.equals(this.seen) && hasOpened(before, current)) {
				this.openings++;
			}
			this.seen = sight;
		}
		finally {
			this.lock.unlock();
		}
		log(before, current);
		return current;
	}

	/** Only one that was open becomes half open, or what it was before. */
	private static boolean hasOpened(State before, State current) {
		return isOpen(current) || current == before || (current == State.HALF_OPEN && !isOpen(before));
	}

	static boolean isOpen(State state) {
		return state == State.OPEN || state == State.FORCED_OPEN;
	}

	private void log(State before, State current) {
		if (before == State.CLOSED && (current == State.OPEN || current == State.HALF_OPEN)) {
			this.warnings.warn(LOGGER, "Circuit breaker '{}' opens: records that depend on it wait, none is given up",
					this.breaker.getName());
		}
		else if (before != State.CLOSED && current == State.CLOSED) {
			LOGGER.info("Circuit breaker '{}' closes: records that depend on it are handled again",
					this.breaker.getName());
		}
	}

	/** Times that the breaker has opened, as of the last look. */
	int openings() {
		return this.openings;
	}

	/** A state, and the metrics of its time. */
	private record Sight(State state, Metrics metrics) {

	}

}
