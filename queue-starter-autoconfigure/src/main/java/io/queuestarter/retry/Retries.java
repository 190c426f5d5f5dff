package io.queuestarter.retry;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskQueue;

/**
 * Holds failed records until their next attempt is due. A waiting record occupies neither
 * a worker nor a place among the records that wait for one. Due records of one queue take
 * turns with its partitions as if they were a partition of their own.
 * <em>Thread-safe.</em>
 */
public final class Retries {

	private final ScheduledExecutorService timer;

	private final Dispatcher<Delivery> dispatcher;

	private final TaskQueue<Delivery> due;

	private final AtomicInteger waiting = new AtomicInteger();

	/**
	 * Creates an empty store.
	 * @param timer the application's timer
	 * @param dispatcher where due records go
	 * @param share largest number of slots for them while others wait
	 */
	public Retries(ScheduledExecutorService timer, Dispatcher<Delivery> dispatcher, int share) {
		this.timer = timer;
		this.dispatcher = dispatcher;
		this.due = dispatcher.openAside(share);
	}

	/**
	 * Dispatches a record again after a delay, unless it is let go or goes elsewhere
	 * meanwhile.
	 * @param delivery a delivery in back-off
	 * @param delay time to wait
	 */
	public void schedule(Delivery delivery, Duration delay) {
		Wait wait = new Wait(delivery);
		// Before the timer: once that has run, the action is that of the next back-off.
		delivery.onLetGo(wait::cancel);
		try {
			wait.timer = this.timer.schedule(wait, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			// The application is closing: the record is let go and delivered again.
			delivery.letGo();
		}
		// Whoever took it out of its back-off before may not have found the timer.
		if (delivery.state() != DeliveryState.BACKOFF) {
			wait.cancel();
		}
	}

	/**
	 * Number of records that wait for the moment of their next attempt.
	 * @return the number
	 */
	public int waiting() {
		return this.waiting.get();
	}

	/** The wait of one record for one attempt. Ends once, by the timer or by a cancel. */
	private final class Wait implements Runnable {

		private final Delivery delivery;

		private final AtomicBoolean over = new AtomicBoolean();

		/** Volatile; set by whoever schedules. */
		private volatile @Nullable Future<?> timer;

		Wait(Delivery delivery) {
			this.delivery = delivery;
			Retries.this.waiting.incrementAndGet();
		}

		private void end() {
			if (!this.over.getAndSet(true)) {
				Retries.this.waiting.decrementAndGet();
			}
		}

		void cancel() {
			end();
			Future<?> current = this.timer;
			if (current != null) {
				current.cancel(false);
			}
		}

		@Override
		public void run() {
			end();
			if (this.delivery.move(DeliveryState.BACKOFF, DeliveryState.QUEUED)) {
				Retries.this.dispatcher.submit(Retries.this.due, this.delivery);
			}
		}

	}

}
