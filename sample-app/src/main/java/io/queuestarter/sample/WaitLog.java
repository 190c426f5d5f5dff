package io.queuestarter.sample;

import java.time.Duration;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Remembers how long things waited that come by a timetable. <em>Thread-safe.</em>
 */
final class WaitLog {

	private final Timetable timetable;

	private final NavigableMap<Long, Duration> waits = new ConcurrentSkipListMap<>();

	WaitLog(Timetable timetable) {
		this.timetable = timetable;
	}

	/** Something is done that was due; the first time counts. */
	void done(long number) {
		this.waits.putIfAbsent(number, Duration.ofNanos(System.nanoTime() - this.timetable.dueNanos(number)));
	}

	/** Number of things done, each once. */
	int count() {
		return this.waits.size();
	}

	/** Waits of what was due from a time on and before another, and is done. */
	Tally.Waits between(long fromNanos, long toNanos) {
		return new Tally.Waits(this.waits.subMap(this.timetable.firstFrom(fromNanos), this.timetable.firstFrom(toNanos))
			.values()
			.stream()
			.sorted()
			.toList());
	}

}
