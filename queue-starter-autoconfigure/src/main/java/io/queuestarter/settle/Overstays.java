package io.queuestarter.settle;

import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.log.LogLimit;

/**
 * Handlers that run on although their attempt was cancelled: they ignore the interrupt.
 * After a grace their slots are given to others, as long as no more threads than allowed
 * are lost that way. <em>Thread-safe.</em>
 */
public final class Overstays {

	private static final Logger LOGGER = LoggerFactory.getLogger(Overstays.class);

	private final Dispatcher<?> dispatcher;

	private final long graceNanos;

	private final int allowed;

	private final ConcurrentLinkedQueue<Overstay> running = new ConcurrentLinkedQueue<>();

	private final AtomicInteger leaked = new AtomicInteger();

	private final LongAdder total = new LongAdder();

	private final LogLimit leaks;

	/**
	 * Creates an empty list.
	 * @param dispatcher whose slots the attempts occupy
	 * @param grace time that a handler may take to end when its attempt is cancelled
	 * @param allowed threads that may run beyond the dispatcher's slots
	 * @param time where the time is read
	 */
	public Overstays(Dispatcher<?> dispatcher, Duration grace, int allowed, TimeSource time) {
		this.dispatcher = dispatcher;
		this.graceNanos = grace.toNanos();
		this.allowed = allowed;
		this.leaks = new LogLimit(time::nanoTime);
	}

	/** An attempt was cancelled while its handler ran. */
	void add(Attempt attempt, long nowNanos) {
		this.running.add(new Overstay(attempt, nowNanos));
	}

	/** Gives slots back. To be called by one thread at a time. */
	void look(long nowNanos) {
		this.running.removeIf((overstay) -> {
			Attempt attempt = overstay.attempt;
			if (attempt.hasLeft()) {
				if (attempt.isLeaked()) {
					this.leaked.decrementAndGet();
				}
				return true;
			}
			if (!attempt.isLeaked() && nowNanos - overstay.sinceNanos >= this.graceNanos
					&& this.leaked.get() < this.allowed && attempt.leak()) {
				int lost = this.leaked.incrementAndGet();
				this.total.increment();
				this.dispatcher.release(attempt.slot());
				this.leaks.warn(LOGGER,
						"Handler of {} was cancelled and does not end; its place was given to another, {} of {} so far",
						attempt, lost, this.allowed);
			}
			return false;
		});
	}

	/**
	 * Handlers that run on now, and whose slots others have.
	 * @return the number
	 */
	public int leaked() {
		return this.leaked.get();
	}

	/**
	 * Slots taken so far from handlers that did not end.
	 * @return the number
	 */
	public long total() {
		return this.total.sum();
	}

	private record Overstay(Attempt attempt, long sinceNanos) {

	}

}
