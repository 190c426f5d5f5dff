package io.queuestarter.dispatch;

import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts the workers of a {@link Dispatcher}, a few at one time. State is guarded by the
 * lock of the dispatcher.
 */
final class Workers {

	/**
	 * Most workers that are started and have not taken a task yet. One that takes a task
	 * starts the next, so quick tasks are done by a few instead of by one each.
	 */
	private static final int MOST_ON_THE_WAY = 8;

	private final ReentrantLock lock;

	private final Executor executor;

	private final Runnable worker;

	/** Workers to be started, or started without having taken a task yet. */
	private int reserved;

	Workers(ReentrantLock lock, Executor executor, Runnable worker) {
		this.lock = lock;
		this.executor = executor;
		this.worker = worker;
	}

	/**
	 * Reserves new workers, to be started without the lock.
	 * @param wanted how many have something to do
	 * @return how many are missing and may be on the way
	 */
	int reserve(int wanted) {
		int count = Math.min(MOST_ON_THE_WAY, wanted) - this.reserved;
		if (count <= 0) {
			return 0;
		}
		this.reserved += count;
		return count;
	}

	/** Reserved workers look for tasks now, or are not going to be started. */
	void arrived(int reservations) {
		this.reserved -= reservations;
	}

	/** Starts reserved workers. Called without the lock. */
	void start(int count) {
		int started = 0;
		try {
			while (started < count) {
				this.executor.execute(this.worker);
				started++;
			}
		}
		finally {
			if (started < count) {
				this.lock.lock();
				try {
					arrived(count - started);
				}
				finally {
					this.lock.unlock();
				}
			}
		}
	}

	/** Starts reserved workers; that they cannot be started is not told here. */
	void tryStart(int count) {
		try {
			start(count);
		}
		catch (Throwable ex) {
			// The caller is in the middle of an answer or of a drain, to be carried out,
			// or has a task to run.
		}
	}

}
