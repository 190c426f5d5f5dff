package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Prints a line every tick while a listener runs, and remembers the extremes.
 */
final class LiveTable {

	/** Looks for each line. */
	private static final int LOOKS = 5;

	/** Ticks over which rates and waits of a line are taken. */
	private static final int WINDOW = 3;

	private final Run run;

	private final Line line;

	private final Duration tick;

	private final Instant start = Instant.now();

	private final Peaks peaks = new Peaks();

	LiveTable(Run run, Line line, Duration tick) {
		this.run = run;
		this.line = line;
		this.tick = tick;
	}

	/** Goes on for some time. */
	void play(Duration time) throws InterruptedException {
		playUntil((progress) -> false, time);
	}

	/** Goes on until something is seen; says whether it was in time. */
	boolean playUntil(Predicate<Progress> end, Duration limit) throws InterruptedException {
		long looks = limit.toMillis() * LOOKS / this.tick.toMillis();
		long next = System.nanoTime();
		for (long look = 1; look <= looks; look++) {
			next += this.tick.toNanos() / LOOKS;
			TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
			Progress progress = this.run.watch().look();
			Instant now = Instant.now();
			this.peaks.add(now, progress);
			if (end.test(progress)) {
				return true;
			}
			if (look % LOOKS == 0) {
				print(now, progress);
			}
		}
		return false;
	}

	private void print(Instant now, Progress progress) {
		Duration window = this.tick.multipliedBy(WINDOW);
		Instant since = now.minus(window);
		Duration elapsed = Duration.between(this.start, now);
		this.line.print(elapsed, (elapsed.compareTo(window) < 0) ? elapsed : window,
				this.run.tally().waits(Card.VISA, since), this.run.tally().waits(Card.MASTERCARD, since), progress);
	}

	/** Extremes so far. */
	Peaks peaks() {
		return this.peaks;
	}

	/**
	 * Prints one line.
	 */
	@FunctionalInterface
	interface Line {

		/** Rates and waits are those of a window that ends now. */
		void print(Duration time, Duration window, Tally.Waits visa, Tally.Waits mastercard, Progress progress);

	}

	/**
	 * Extremes of a run. <em>Not thread-safe.</em>
	 */
	static final class Peaks {

		private Duration longestFreeze = Duration.ZERO;

		private long mostAbove;

		private long committed = -1;

		private Instant since = Instant.EPOCH;

		private void add(Instant now, Progress progress) {
			if (progress.committed() != this.committed || progress.above() == 0) {
				this.committed = progress.committed();
				this.since = now;
			}
			Duration freeze = Duration.between(this.since, now);
			this.longestFreeze = (freeze.compareTo(this.longestFreeze) > 0) ? freeze : this.longestFreeze;
			this.mostAbove = Math.max(this.mostAbove, progress.above());
		}

		/** Longest time the commit stood still although trips were charged. */
		Duration longestFreeze() {
			return this.longestFreeze;
		}

		/** Most trips that were charged and not covered by the commit. */
		long mostAbove() {
			return this.mostAbove;
		}

	}

}
