package io.queuestarter.benchmarks.compare;

import java.util.SplittableRandom;

/**
 * What handlers do with their records.
 *
 * @param millis time that an ordinary one waits
 * @param waits how often it does
 * @param slowEvery one in how many is slow, 0 for none
 * @param slowMillis time that a slow one waits
 * @param failEvery one in how many fails in each attempt, 0 for none
 * @param holdEvery one in how many holds the watermark until nearly all before the next
 * such have ended, 0 for none
 */
record Handlers(int millis, int waits, int slowEvery, int slowMillis, int failEvery, int holdEvery) {

	/** Attempts after which a record that always fails is given up. */
	static final int ATTEMPTS = 3;

	static Handlers waiting(int millis) {
		return new Handlers(millis, 1, 0, 0, 0, 0);
	}

	Handlers times(int times) {
		return new Handlers(this.millis, times, this.slowEvery, this.slowMillis, this.failEvery, this.holdEvery);
	}

	Handlers slow(int every, int slowFor) {
		return new Handlers(this.millis, this.waits, every, slowFor, this.failEvery, this.holdEvery);
	}

	Handlers failing(int every) {
		return new Handlers(this.millis, this.waits, this.slowEvery, this.slowMillis, every, this.holdEvery);
	}

	Handlers holding(int every) {
		return new Handlers(this.millis, this.waits, this.slowEvery, this.slowMillis, this.failEvery, every);
	}

	boolean holds(int number) {
		return this.holdEvery > 0 && number % this.holdEvery == 0;
	}

	boolean fails(int number) {
		return isOneIn(this.failEvery, number);
	}

	int millisOf(int number) {
		return isOneIn(this.slowEvery, number) ? this.slowMillis : this.millis;
	}

	/** Scattered, so that they are neither of one key nor of one partition. */
	private static boolean isOneIn(int every, int number) {
		return every > 0 && new SplittableRandom(number).nextInt(every) == 0;
	}

	/** Part of the attempts that succeed. */
	double soundShare() {
		return (this.failEvery > 0) ? (this.failEvery - 1.0) / (this.failEvery - 1.0 + ATTEMPTS) : 1;
	}

	double meanSeconds() {
		double mean = this.millis / 1e3;
		if (this.slowEvery > 0) {
			mean += (this.slowMillis - this.millis) / 1e3 / this.slowEvery;
		}
		return mean * this.waits;
	}

}
