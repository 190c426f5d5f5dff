package io.queuestarter.testkit;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where handlers of a test wait until they are released. <em>Thread-safe.</em>
 */
public final class Hold {

	private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

	private final CountDownLatch latch = new CountDownLatch(1);

	private final AtomicInteger arrived = new AtomicInteger();

	/** Waits to be released. */
	public void await() throws InterruptedException {
		this.arrived.incrementAndGet();
		if (!this.latch.await(LIMIT_NANOS, TimeUnit.NANOSECONDS)) {
			throw new IllegalStateException("Never released");
		}
	}

	/** Waits to be released, whoever interrupts. */
	public void awaitStubbornly() {
		this.arrived.incrementAndGet();
		long start = System.nanoTime();
		boolean released = false;
		while (!released) {
			try {
				released = this.latch.await(LIMIT_NANOS, TimeUnit.NANOSECONDS);
				if (System.nanoTime() - start > LIMIT_NANOS) {
					throw new IllegalStateException("Never released");
				}
			}
			catch (InterruptedException ex) {
				// That is what the test is about.
			}
		}
	}

	/** Lets all go that wait or will. */
	public void release() {
		this.latch.countDown();
	}

	/** Number of handlers that came here. */
	public int arrived() {
		return this.arrived.get();
	}

	/** Waits until so many handlers came here. */
	public void awaitArrived(int count) {
		QueueApp.eventually().until(() -> this.arrived.get() >= count);
	}

}
