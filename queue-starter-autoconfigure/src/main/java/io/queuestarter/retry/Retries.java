package io.queuestarter.retry;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

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
	 * Dispatches a record again after a delay, unless it is let go meanwhile.
	 * @param delivery a delivery in back-off
	 * @param delay time to wait
	 */
	public void schedule(Delivery delivery, Duration delay) {
		this.waiting.incrementAndGet();
		AtomicBoolean counted = new AtomicBoolean(true);
		try {
			ScheduledFuture<?> timer = this.timer.schedule(() -> due(delivery, counted),
					TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
			delivery.onLetGo(() -> {
				timer.cancel(false);
				ended(counted);
			});
		}
		catch (RejectedExecutionException ex) {
			// The application is closing: the record is let go and delivered again.
			ended(counted);
			delivery.letGo();
		}
	}

	/** Once, whether the wait ends by the timer or by whoever cancels it. */
	private void ended(AtomicBoolean counted) {
		if (counted.getAndSet(false)) {
			this.waiting.decrementAndGet();
		}
	}

	private void due(Delivery delivery, AtomicBoolean counted) {
		ended(counted);
		if (delivery.move(DeliveryState.BACKOFF, DeliveryState.QUEUED)) {
			this.dispatcher.submit(this.due, delivery);
		}
	}

	/**
	 * Number of records that wait for the moment of their next attempt.
	 * @return the number
	 */
	public int waiting() {
		return this.waiting.get();
	}

}
