package io.queuestarter.container;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Lets the consumer thread wait until there is something to do. A signal that comes while
 * nobody waits shortens the next wait. <em>Thread-safe</em>; one thread may wait at a
 * time.
 */
class ConsumerSignal {

	private volatile @Nullable Thread waiter;

	private volatile boolean raised;

	void raise() {
		this.raised = true;
		Thread thread = this.waiter;
		if (thread != null) {
			LockSupport.unpark(thread);
		}
	}

	/**
	 * Waits for a signal, at most so long. May return early without one.
	 */
	void await(long nanos) {
		this.waiter = Thread.currentThread();
		if (!this.raised) {
			LockSupport.parkNanos(this, nanos);
		}
		this.waiter = null;
		this.raised = false;
	}

}
