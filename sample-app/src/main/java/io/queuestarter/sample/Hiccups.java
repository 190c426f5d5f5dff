package io.queuestarter.sample;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How late a thread is woken that has nothing to do with any queue: the pauses that the
 * machine makes, whoever uses it. <em>Thread-safe.</em>
 */
final class Hiccups implements AutoCloseable {

	private static final int PER_SECOND = 200;

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	private final WaitLog late;

	private Hiccups(Timetable timetable) {
		this.late = new WaitLog(timetable);
	}

	static Hiccups watch() {
		Timetable timetable = Timetable.fromNow(PER_SECOND);
		Hiccups hiccups = new Hiccups(timetable);
		AtomicLong number = new AtomicLong();
		hiccups.timer.scheduleAtFixedRate(() -> hiccups.late.done(number.getAndIncrement()), 0,
				timetable.interval().toNanos(), TimeUnit.NANOSECONDS);
		return hiccups;
	}

	/** Times that the thread was late in a span. */
	Tally.Waits between(long fromNanos, long toNanos) {
		return this.late.between(fromNanos, toNanos);
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
	}

}
