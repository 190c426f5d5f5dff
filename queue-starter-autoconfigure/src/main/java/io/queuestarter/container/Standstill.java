package io.queuestarter.container;

import java.util.concurrent.TimeUnit;

import io.queuestarter.delivery.TimeSource;

/**
 * Notices that the whole process stood still: it was frozen, or its machine was.
 * <em>Thread-safe.</em>
 */
/*
 * The group may have given the partitions of such a process to others. When it goes on,
 * workers would be faster than the consumer thread, which hears of that only from the
 * broker, and would run what was buffered although others have. So they hold first. What
 * the consumer has lost meanwhile is let go; the rest runs.
 *
 * That the timer ticks late is the sign, and workers look for it themselves, since they
 * may run before the timer does. Should the timer itself hang, they hold once. The clock
 * goes on while a process is frozen.
 */
final class Standstill {

	/** Ticks that come later than this after the one before make a standstill. */
	static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(2);

	/** How long workers hold. */
	static final long HOLD_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final TimeSource time;

	private final WorkerThreads workers;

	private volatile long lastTick;

	private volatile long heldUntil;

	/** The last tick before a standstill that workers have held for. */
	private volatile long heldFor;

	Standstill(TimeSource time, WorkerThreads workers) {
		this.time = time;
		this.workers = workers;
		restart();
	}

	/** Ticks begin. */
	void restart() {
		this.lastTick = this.time.nanoTime();
		this.heldUntil = this.lastTick;
		this.heldFor = this.lastTick - 1;
	}

	/** The process is alive. Called much more often than the limit, by one thread. */
	void tick() {
		long now = this.time.nanoTime();
		if (now - this.lastTick > LIMIT_NANOS) {
			this.heldUntil = now + HOLD_NANOS;
		}
		this.lastTick = now;
	}

	/** How long records should not start; zero or less unless there was a standstill. */
	long holdNanos() {
		long now = this.time.nanoTime();
		long tick = this.lastTick;
		return (now - tick > LIMIT_NANOS && tick != this.heldFor) ? HOLD_NANOS : this.heldUntil - now;
	}

	/** Holds a worker, after a standstill. */
	void hold() {
		long tick = this.lastTick;
		long nanos = holdNanos();
		if (nanos <= 0) {
			return;
		}
		this.workers.pause(nanos);
		this.heldFor = tick;
	}

}
