package io.queuestarter.sample;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.Queue;

/**
 * Sees how far both lanes have come.
 *
 * @param queue the queue
 * @param timetable when production's trips are due
 * @param traffic knows what was sent
 * @param handled production's trips that are handled
 * @param test knows what became of the test build's trips
 */
record LanesWatch(Queue queue, Timetable timetable, TenantTraffic traffic, WaitLog handled, BrokenBuild test) {

	/** Longest time back that rates and waits are taken from. */
	private static final Duration WINDOW = Duration.ofSeconds(3);

	View look() {
		long now = System.nanoTime();
		Tally.Waits waits = this.handled.between(now - WINDOW.toNanos(), now);
		Duration elapsed = Duration.ofNanos(now - this.timetable.startNanos());
		PartitionView source = this.queue.partitions()
			.stream()
			.filter((partition) -> partition.partition().topic().equals(LanesQueue.TOPIC))
			.findFirst()
			.orElse(null);
		return new View(elapsed, waits.perSecond((elapsed.compareTo(WINDOW) < 0) ? elapsed : WINDOW),
				waits.percentile(99), this.traffic.sent(Tenancy.PROD) - this.handled.count(), this.test.running(),
				testWaiting(), this.queue.deadLettered(), (source != null) ? source.committed() : -1,
				(source != null) ? source.fill() : 0);
	}

	/** Trips of the test build that are neither handled nor dead-lettered. */
	long testWaiting() {
		return this.traffic.sent(Tenancy.TEST) - this.test.handledCount() - this.queue.deadLettered();
	}

	/**
	 * The lanes at one moment.
	 *
	 * @param time time since the first trip was due
	 * @param perSecond trips of production handled a second
	 * @param p99 wait that 99 of 100 of them did not exceed, or null if there was none
	 * @param waiting trips of production that are not handled
	 * @param testRunning trips of the test build under way
	 * @param testWaiting its trips that are neither handled nor dead-lettered
	 * @param deadLetters dead letters written
	 * @param committed offset committed
	 * @param fill share of the window that is in use
	 */
	record View(Duration time, double perSecond, @Nullable Duration p99, long waiting, int testRunning,
			long testWaiting, long deadLetters, long committed, double fill) {

	}

}
