package io.queuestarter.sample;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.stereotype.Component;

/**
 * What handles the test build's trips: fails for every other one and hangs for the rest,
 * until it is repaired. <em>Thread-safe.</em>
 */
@Component
final class BrokenBuild {

	private final Map<String, Long> seen = new ConcurrentHashMap<>();

	private final Set<Long> handled = ConcurrentHashMap.newKeySet();

	private final AtomicInteger running = new AtomicInteger();

	private final AtomicInteger mostRunning = new AtomicInteger();

	private final CountDownLatch repaired = new CountDownLatch(1);

	void charge(Trip trip, String tenancy) throws InterruptedException {
		this.seen.merge(tenancy, 1L, Long::sum);
		this.mostRunning.accumulateAndGet(this.running.incrementAndGet(), Math::max);
		try {
			if (this.repaired.getCount() > 0 && trip.number() % 2 == 0) {
				throw new IllegalStateException("The test build is broken");
			}
			this.repaired.await();
			this.handled.add(trip.number());
		}
		finally {
			this.running.decrementAndGet();
		}
	}

	/** Handles from now on what comes, and what hangs. */
	void repair() {
		this.repaired.countDown();
	}

	/** Number of trips that came here, by what their headers say. */
	Map<String, Long> seen() {
		return Map.copyOf(this.seen);
	}

	/** Numbers of the trips handled. */
	Set<Long> handled() {
		return Set.copyOf(this.handled);
	}

	int handledCount() {
		return this.handled.size();
	}

	int running() {
		return this.running.get();
	}

	/** Most trips that ran at one time. */
	int mostRunning() {
		return this.mostRunning.get();
	}

}
