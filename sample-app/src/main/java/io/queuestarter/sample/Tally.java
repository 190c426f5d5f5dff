package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.jspecify.annotations.Nullable;

/**
 * Trips sent and charged in one act. Remembers a bounded number of them.
 * <em>Thread-safe.</em>
 */
final class Tally {

	private static final int REMEMBERED = 100_000;

	@GuardedBy("this")
	private final Deque<Charge> charges = new ArrayDeque<>();

	@GuardedBy("this")
	private final NavigableMap<Long, Instant> open = new TreeMap<>();

	@GuardedBy("this")
	private final List<Long> poison = new ArrayList<>();

	@GuardedBy("this")
	private final Map<Card, Long> chargedByCard = new EnumMap<>(Card.class);

	@GuardedBy("this")
	private long sent;

	@GuardedBy("this")
	private long charged;

	@GuardedBy("this")
	private int failed;

	synchronized void sent(Trip trip) {
		this.sent++;
		if (trip.poison()) {
			this.poison.add(trip.number());
			return;
		}
		this.open.put(trip.number(), trip.created());
		if (this.open.size() > REMEMBERED) {
			this.open.pollFirstEntry();
		}
	}

	synchronized void charged(Trip trip, Instant at) {
		this.charged++;
		if (this.open.remove(trip.number()) != null) {
			this.chargedByCard.merge(trip.card(), 1L, Long::sum);
		}
		this.charges.add(new Charge(trip.card(), at, Duration.between(trip.created(), at)));
		if (this.charges.size() > REMEMBERED) {
			this.charges.remove();
		}
	}

	synchronized void failed() {
		this.failed++;
	}

	/** Number of trips sent, poison among them. */
	synchronized long sent() {
		return this.sent;
	}

	/** Numbers of the trips sent that no provider will ever accept. */
	synchronized List<Long> poison() {
		return List.copyOf(this.poison);
	}

	/** Number of trips sent that were charged, each once, by card. */
	synchronized Map<Card, Long> chargedByCard() {
		return Map.copyOf(this.chargedByCard);
	}

	/** Number of charges, of whatever trip. */
	synchronized long charged() {
		return this.charged;
	}

	/** Number of attempts that failed. */
	synchronized int failures() {
		return this.failed;
	}

	/** Number of trips sent that are not charged, other than poison. */
	synchronized int waiting() {
		return this.open.size();
	}

	/** Age of the oldest trip that is not charged, other than poison. */
	synchronized Duration oldestAge(Instant now) {
		return this.open.isEmpty() ? Duration.ZERO : Duration.between(this.open.firstEntry().getValue(), now);
	}

	/** Charges of a card, or of all, since a moment. */
	synchronized Waits waits(@Nullable Card card, Instant since) {
		return new Waits(this.charges.stream()
			.filter((charge) -> card == null || charge.card() == card)
			.filter((charge) -> !charge.at().isBefore(since))
			.map(Charge::waited)
			.sorted()
			.toList());
	}

	private record Charge(Card card, Instant at, Duration waited) {

	}

	/**
	 * Times that trips waited.
	 *
	 * @param sorted the times, shortest first
	 */
	record Waits(List<Duration> sorted) {

		double perSecond(Duration time) {
			return this.sorted.size() * 1000.0 / Math.max(1, time.toMillis());
		}

		/** The wait that 95 of 100 trips did not exceed, or null if there was none. */
		@Nullable Duration p95() {
			return percentile(95);
		}

		/**
		 * The wait that so many of 100 trips did not exceed, or null if there was none.
		 */
		@Nullable Duration percentile(int percent) {
			return this.sorted.isEmpty() ? null
					: this.sorted.get((int) Math.ceil(this.sorted.size() * percent / 100.0) - 1);
		}

	}

}
