package io.queuestarter.sample;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * When trips are due, one after the other at a steady rate. Waits are counted from there:
 * a trip that is sent late because all is stuck has waited already.
 *
 * @param startNanos when the trip with number 0 is due
 * @param perSecond how many are due a second
 */
record Timetable(long startNanos, int perSecond) {

	static Timetable fromNow(int perSecond) {
		return new Timetable(System.nanoTime(), perSecond);
	}

	/** Time from one trip to the next. */
	Duration interval() {
		return Duration.ofNanos(TimeUnit.SECONDS.toNanos(1) / this.perSecond);
	}

	long dueNanos(long number) {
		return this.startNanos + number * interval().toNanos();
	}

	/** Number of the first trip that is due at a time or after it. */
	long firstFrom(long nanos) {
		return Math.max(0, -Math.floorDiv(this.startNanos - nanos, interval().toNanos()));
	}

}
