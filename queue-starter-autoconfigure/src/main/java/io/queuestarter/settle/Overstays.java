package io.queuestarter.settle;

import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.log.LogLimit;

/**
 * Handlers that run on although nobody waits for them: they ignore the interrupt of their
 * cancelled attempt, or have answered and do not return. The latter are cancelled at
 * their deadline, too; their record stays what they made of it. After a grace the slots
 * of cancelled handlers are given to others, as long as no more threads than allowed are
 * lost that way. <em>Thread-safe.</em>
 */
/*
 * A record that was answered no longer knows its attempt, so running handlers are noted
 * by slot. A slot has another handler only after the one before has ended, or was
 * cancelled and stands in the list.
 */
public final class Overstays {

	private static final Logger LOGGER = LoggerFactory.getLogger(Overstays.class);

	private final Dispatcher<?> dispatcher;

	private final long graceNanos;

	private final int allowed;

	/** Attempts whose handlers run, by slot. */
	private final AtomicReferenceArray<@Nullable Attempt> handlers;

	private final ConcurrentLinkedQueue<Overstay> cancelled = new ConcurrentLinkedQueue<>();

	private final AtomicInteger leaked = new AtomicInteger();

	private final LongAdder total = new LongAdder();

	private final LogLimit answered;

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
		this.handlers = new AtomicReferenceArray<>(dispatcher.limit());
		this.answered = new LogLimit(time::nanoTime);
		this.leaks = new LogLimit(time::nanoTime);
	}

	/** A handler begins. Worker thread. */
	void entered(Attempt attempt) {
		this.handlers.lazySet(attempt.slot(), attempt);
	}

	/** A handler has ended. Worker thread. */
	void left(Attempt attempt) {
		this.handlers.compareAndSet(attempt.slot(), attempt, null);
	}

	/** An attempt was cancelled while its handler ran; may be told more than once. */
	void add(Attempt attempt, long nowNanos) {
		this.cancelled.add(new Overstay(attempt, nowNanos));
	}

	/**
	 * Cancels handlers that have answered and outlast their deadline, and gives slots
	 * back. To be called by one thread at a time.
	 */
	void look(long nowNanos) {
		for (int slot = 0; slot < this.handlers.length(); slot++) {
			Attempt attempt = this.handlers.get(slot);
			if (attempt != null && attempt.isOverstaying(nowNanos)) {
				attempt.cancel();
				add(attempt, nowNanos);
				this.answered.warn(LOGGER, "Handler of {} has answered and did not return in time; it was cancelled",
						attempt);
			}
		}
		this.cancelled.removeIf((overstay) -> isOver(overstay, nowNanos));
	}

	private boolean isOver(Overstay overstay, long nowNanos) {
		Attempt attempt = overstay.attempt;
		if (attempt.hasLeft()) {
			if (overstay.leaked) {
				this.leaked.decrementAndGet();
			}
			return true;
		}
		if (!overstay.leaked && nowNanos - overstay.sinceNanos >= this.graceNanos && this.leaked.get() < this.allowed
				&& attempt.leak()) {
			overstay.leaked = true;
			int lost = this.leaked.incrementAndGet();
			this.total.increment();
			this.dispatcher.release(attempt.slot());
			this.leaks.warn(LOGGER,
					"Handler of {} was cancelled and does not end; its place was given to another, {} of {} so far",
					attempt, lost, this.allowed);
		}
		return false;
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

	/** Owned by the thread that looks. */
	private static final class Overstay {

		private final Attempt attempt;

		private final long sinceNanos;

		/** Whether the slot was taken on account of this entry. */
		private boolean leaked;

		Overstay(Attempt attempt, long sinceNanos) {
			this.attempt = attempt;
			this.sinceNanos = sinceNanos;
		}

	}

}
