package io.queuestarter.sample;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Stub of a card provider. A call blocks its thread for the latency; a change of the
 * latency also reaches calls that are under way. <em>Thread-safe.</em>
 */
final class Provider {

	/** Times the latency that a check by hand takes. */
	static final int CHECK_FACTOR = 4;

	private final Card card;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final AtomicInteger running = new AtomicInteger();

	@GuardedBy("lock")
	private Duration latency;

	@GuardedBy("lock")
	private double failures;

	Provider(Card card, Duration latency) {
		this.card = card;
		this.latency = latency;
	}

	/**
	 * Charges a trip, or throws: by chance, and always if the trip is declined.
	 */
	void charge(Trip trip) throws InterruptedException {
		answer((trip.cents() >= Trip.CHECKED_FARE) ? CHECK_FACTOR : 1);
		if (ThreadLocalRandom.current().nextDouble() < state().failures()) {
			throw new ProviderException(this.card);
		}
		if (trip.poison()) {
			throw new DeclinedException(trip);
		}
	}

	private void answer(int factor) throws InterruptedException {
		long start = System.nanoTime();
		this.running.incrementAndGet();
		this.lock.lock();
		try {
			long left = this.latency.toNanos() * factor;
			while (left > 0) {
				this.changed.awaitNanos(left);
				left = this.latency.toNanos() * factor - (System.nanoTime() - start);
			}
		}
		finally {
			this.lock.unlock();
			this.running.decrementAndGet();
		}
	}

	/** Sets latency and share of failing calls, from 0 to 1. */
	void set(Duration newLatency, double newFailures) {
		this.lock.lock();
		try {
			this.latency = newLatency;
			this.failures = newFailures;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	State state() {
		this.lock.lock();
		try {
			return new State(this.card.path(), this.latency, this.failures, this.running.get());
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A provider at one moment.
	 *
	 * @param provider its name
	 * @param latency time a call takes
	 * @param failures share of calls that fail, from 0 to 1
	 * @param running calls under way
	 */
	record State(String provider, Duration latency, double failures, int running) {

	}

}
