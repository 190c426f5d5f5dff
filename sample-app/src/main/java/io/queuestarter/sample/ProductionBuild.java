package io.queuestarter.sample;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * What handles production's trips, and remembers whose trips these were.
 * <em>Thread-safe.</em>
 */
@Component
final class ProductionBuild {

	private final Providers providers;

	private final Map<String, Long> seen = new ConcurrentHashMap<>();

	/** Set once before the first trip is sent. */
	private volatile @Nullable WaitLog waits;

	ProductionBuild(Providers providers) {
		this.providers = providers;
	}

	/** Says where to note the trips handled; to be told before they are sent. */
	void expect(WaitLog trips) {
		this.waits = trips;
	}

	void charge(Trip trip, String tenancy) throws InterruptedException {
		this.seen.merge(tenancy, 1L, Long::sum);
		this.providers.of(trip.card()).charge(trip);
		WaitLog log = this.waits;
		if (log != null) {
			log.done(trip.number());
		}
	}

	/** Number of trips that came here, by what their headers say. */
	Map<String, Long> seen() {
		return Map.copyOf(this.seen);
	}

}
