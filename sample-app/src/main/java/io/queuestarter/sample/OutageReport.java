package io.queuestarter.sample;

import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What came of Visa's outage.
 *
 * @param before what was charged before
 * @param down what was charged while Visa was down, one after the other in stretches of
 * some ten seconds: a rate that breaks down and is made up for later was not kept
 * @param caughtUp time after the outage until no trip of it was waiting, or null if it
 * did not come to that
 * @param sent trips sent, poison among them
 * @param poison numbers of the trips that were poison, in their order
 * @param deadLetters numbers of the trips that were dead-lettered, in their order
 * @param charged trips charged, each counted once
 * @param committed offset committed in the end
 * @param end offset behind the last trip
 */
record OutageReport(Phase before, List<Phase> down, @Nullable Duration caughtUp, long sent, List<Long> poison,
		List<Long> deadLetters, long charged, long committed, long end) {

	/** Share of its usual rate that the healthy provider must keep. */
	static final double RATE_KEPT = 0.8;

	/** Whether all promises were kept. */
	boolean good() {
		return promises().stream().allMatch(Promise::kept);
	}

	List<Promise> promises() {
		return List.of(
				new Promise(isDeadLettersArePoison(),
						"Dead letters are exactly the poison: %d of %d trips".formatted(this.deadLetters.size(),
								this.poison.size())),
				new Promise(rateKept() > RATE_KEPT,
						String.format(Locale.ROOT,
								"Mastercard kept %.2f of its rate at the worst while Visa was down, more than %.1f",
								rateKept(), RATE_KEPT)),
				new Promise(isAllHandled(),
						"%d of %d trips charged, the rest is poison; committed offset %d, end of the topic %d"
							.formatted(this.charged, this.sent, this.committed, this.end)));
	}

	boolean isDeadLettersArePoison() {
		return this.deadLetters.stream().sorted().toList().equals(this.poison);
	}

	/** Mastercard's lowest rate while Visa was down, as a share of that before. */
	double rateKept() {
		return worst().perSecond(Card.MASTERCARD) / this.before.perSecond(Card.MASTERCARD);
	}

	/** The stretch of the outage in which Mastercard did worst. */
	Phase worst() {
		return Collections.min(this.down, Comparator.comparingDouble((phase) -> phase.perSecond(Card.MASTERCARD)));
	}

	boolean isAllHandled() {
		return this.charged + this.poison.size() == this.sent && this.committed == this.end;
	}

	/**
	 * Trips charged in a part of the story.
	 *
	 * @param time how long it was
	 * @param charged trips charged by card
	 */
	record Phase(Duration time, Map<Card, Long> charged) {

		long charged(Card card) {
			return this.charged.getOrDefault(card, 0L);
		}

		double perSecond(Card card) {
			return charged(card) * 1000.0 / this.time.toMillis();
		}

	}

}
