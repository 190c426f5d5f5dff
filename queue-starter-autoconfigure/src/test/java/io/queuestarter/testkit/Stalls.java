package io.queuestarter.testkit;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long no record was begun around faults of each kind. <em>Thread-safe.</em>
 */
public final class Stalls {

	private static final Logger LOGGER = LoggerFactory.getLogger(Stalls.class);

	/** Longest wait for a recovery; what is measured is no matter of pass or fail. */
	private static final Duration LIMIT = Duration.ofMinutes(2);

	/** Longest stall by kind of fault, in milliseconds. */
	private final Map<String, Stall> longest = new ConcurrentSkipListMap<>();

	@GuardedBy("this")
	private long lastNanos = System.nanoTime();

	@GuardedBy("this")
	private long gapNanos;

	@GuardedBy("this")
	private long healedNanos;

	@GuardedBy("this")
	private long recoveryNanos;

	/** A record was begun. */
	public synchronized void begun() {
		long now = System.nanoTime();
		this.gapNanos = Math.max(this.gapNanos, now - this.lastNanos);
		this.lastNanos = now;
		if (this.healedNanos != 0 && this.recoveryNanos < 0) {
			this.recoveryNanos = now - this.healedNanos;
		}
	}

	private synchronized void open() {
		this.lastNanos = System.nanoTime();
		this.gapNanos = 0;
		this.healedNanos = 0;
		this.recoveryNanos = -1;
	}

	private synchronized void heal() {
		this.healedNanos = System.nanoTime();
	}

	private synchronized boolean isRecovered() {
		return this.recoveryNanos >= 0;
	}

	private synchronized Stall stall() {
		return new Stall(1, TimeUnit.NANOSECONDS.toMillis(this.gapNanos),
				TimeUnit.NANOSECONDS.toMillis(this.recoveryNanos));
	}

	/**
	 * Causes a fault, repairs it, and waits until a record is begun after that and all is
	 * well again.
	 */
	public void around(String kind, Runnable fault, Runnable repair, BooleanSupplier well) {
		open();
		fault.run();
		repair.run();
		heal();
		QueueApp.eventually().atMost(LIMIT).until(() -> isRecovered() && well.getAsBoolean());
		this.longest.merge(kind, stall(), Stall::worse);
	}

	/** Writes to the log what was measured. */
	public void report(String test) {
		this.longest.forEach((kind, stall) -> LOGGER.info(
				"{}: {} x {}: at most {} ms without a record, of which {} ms after the repair", test, stall.faults(),
				kind, stall.gapMillis(), stall.recoveryMillis()));
	}

	/**
	 * The longest stall of faults of one kind.
	 *
	 * @param faults number of faults
	 * @param gapMillis longest time between two records, from the fault on
	 * @param recoveryMillis longest time from a repair to the next record
	 */
	private record Stall(int faults, long gapMillis, long recoveryMillis) {

		Stall worse(Stall other) {
			return new Stall(this.faults + other.faults, Math.max(this.gapMillis, other.gapMillis),
					Math.max(this.recoveryMillis, other.recoveryMillis));
		}

	}

}
