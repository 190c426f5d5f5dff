package io.queuestarter.sample;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What came of production while a broken test build flooded its topic.
 *
 * @param before production alone
 * @param flooded production beside the flood
 * @param slack what the p99 may grow by beside a tenth
 * @param production what became of production's trips
 * @param test what became of the test build's trips
 * @param unsettled offsets that are not committed in the end, of the topic and the one of
 * parked trips
 */
record LanesReport(Phase before, Phase flooded, Duration slack, Production production, Test test, long unsettled) {

	/** Share of its rate that production must keep. */
	static final double RATE_KEPT = 0.9;

	/** Times its p99 before that production's may be, beside the slack. */
	static final double WAIT_KEPT = 1.1;

	/** Whether all promises were kept. */
	boolean good() {
		return promises().stream().allMatch(Promise::kept);
	}

	List<Promise> promises() {
		return List.of(
				new Promise(isApart(),
						"Production's handler saw no trip of the test build: tenancies %s; that of the test lane %s"
							.formatted(this.production.seen(), this.test.seen())),
				new Promise(rateKept() >= RATE_KEPT,
						String.format(
								Locale.ROOT, "Production kept %.2f of its rate, at least %.1f", rateKept(), RATE_KEPT)),
				new Promise(isQuick(), quickness()),
				new Promise(isProductionHandled(),
						"%d of %d trips of production handled, %d dead-lettered".formatted(this.production.handled(),
								this.production.sent(), this.production.deadLetters())),
				new Promise(isTestJammed(),
						"The test lane was jammed meanwhile: %d of its %d trips waited in the end, %d ran at one time"
							.formatted(this.test.waiting(), this.test.sent(), this.test.mostRunning())),
				new Promise(isAllSettled(),
						"Then they were handled, %d, or dead-lettered, %d; %d lost, %d not committed".formatted(
								this.test.handled(), this.test.deadLetters(), this.test.lost(), this.unsettled)));
	}

	/** Whether each handler saw trips of its own lane, and no others. */
	boolean isApart() {
		return this.production.seen().keySet().equals(Set.of(Tenancy.PROD.label(), Tenancy.NONE))
				&& this.test.seen().keySet().equals(Set.of(Tenancy.TEST.label()));
	}

	/** Production's rate in the flood, as a share of that before. */
	double rateKept() {
		return this.flooded.perSecond() / this.before.perSecond();
	}

	/** Not if the machine was too busy to tell. */
	private boolean isQuick() {
		Duration usual = this.before.p99();
		Duration now = this.flooded.p99();
		return usual != null && now != null && now.minus(this.slack).toNanos() <= (long) (usual.toNanos() * WAIT_KEPT);
	}

	private String quickness() {
		if (this.before.p99() == null || this.flooded.p99() == null) {
			return "Production's p99 could not be told, the machine was too busy with something else";
		}
		return "Production's p99 was %s, at most a tenth and %s above %s".formatted(Console.precise(this.flooded.p99()),
				Console.time(this.slack), Console.precise(this.before.p99()));
	}

	boolean isProductionHandled() {
		return this.production.handled() == this.production.sent() && this.production.deadLetters() == 0;
	}

	/** Whether there was something to keep away from production until the end. */
	boolean isTestJammed() {
		return this.test.waiting() > this.test.sent() / 2;
	}

	boolean isAllSettled() {
		return this.test.lost() == 0 && this.unsettled == 0;
	}

	/**
	 * Production in a part of the story.
	 *
	 * @param time how long it was
	 * @param handled trips handled in this time
	 * @param slices the part in slices of some seconds, one after the other
	 */
	record Phase(Duration time, int handled, List<Slice> slices) {

		double perSecond() {
			return this.handled * 1000.0 / this.time.toMillis();
		}

		/**
		 * The p99 that half of the quiet slices did not exceed, or null if too few of all
		 * slices were quiet to tell.
		 */
		@Nullable Duration p99() {
			List<Duration> quiet = this.slices.stream().filter(Slice::quiet).map(Slice::p99).sorted().toList();
			return (quiet.isEmpty() || quiet.size() * 3 < this.slices.size()) ? null : quiet.get(quiet.size() / 2);
		}

		/** The p99 of the worst slice, whatever the machine did. */
		Duration worst() {
			return Collections.max(this.slices.stream().map(Slice::p99).toList());
		}

		long quiet() {
			return this.slices.stream().filter(Slice::quiet).count();
		}

	}

	/**
	 * Production in some seconds.
	 *
	 * @param p99 wait that 99 of 100 trips did not exceed that were due in this time
	 * @param quiet whether the machine made no pauses that would tell in it
	 */
	record Slice(Duration p99, boolean quiet) {

	}

	/**
	 * Production's trips.
	 *
	 * @param sent how many were sent
	 * @param handled how many were handled
	 * @param deadLetters how many were dead-lettered
	 * @param seen how many came to the handler, by what their headers say
	 */
	record Production(long sent, long handled, long deadLetters, Map<String, Long> seen) {

	}

	/**
	 * The test build's trips.
	 *
	 * @param sent how many were sent
	 * @param waiting how many waited at the end of the flood
	 * @param mostRunning how many ran at one time at most
	 * @param handled how many were handled once the build was repaired
	 * @param deadLetters how many were dead-lettered
	 * @param lost how many were neither handled nor dead-lettered
	 * @param seen how many came to the handler, by what their headers say
	 */
	record Test(long sent, long waiting, int mostRunning, long handled, long deadLetters, long lost,
			Map<String, Long> seen) {

	}

}
