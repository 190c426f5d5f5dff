package io.queuestarter.container;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Threads that handle the records of one queue. Not a bean, since Spring shuts executors
 * down before listener containers. The number of threads is bounded by the dispatcher.
 */
final class WorkerThreads implements Executor, AutoCloseable {

	private static final int KEEP_ALIVE_SECONDS = 30;

	private final Executor delegate;

	private final LongConsumer pause;

	private final Runnable close;

	WorkerThreads(Executor delegate, LongConsumer pause, Runnable close) {
		this.delegate = delegate;
		this.pause = pause;
		this.close = close;
	}

	static WorkerThreads of(String id, QueueSettings.Workers workers) {
		String prefix = "queue-" + id + "-";
		if (workers.virtual()) {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(prefix);
			executor.setVirtualThreads(true);
			return new WorkerThreads(executor, WorkerThreads::park, executor::close);
		}
		AtomicInteger count = new AtomicInteger();
		// No more workers exist at one time, so the queue holds next to nothing.
		int most = workers.maxInFlight() + workers.maxLeaked();
		ThreadPoolExecutor pool = new ThreadPoolExecutor(most, most, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), (task) -> {
					Thread thread = new Thread(task, prefix + count.incrementAndGet());
					thread.setDaemon(true);
					return thread;
				});
		pool.allowCoreThreadTimeOut(true);
		return new WorkerThreads(pool, WorkerThreads::park, pool::shutdownNow);
	}

	@Override
	public void execute(Runnable worker) {
		this.delegate.execute(worker);
	}

	private static void park(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !Thread.currentThread().isInterrupted(); left = end - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
	}

	/** Lets the calling worker wait, unless it is interrupted. */
	void pause(long nanos) {
		this.pause.accept(nanos);
	}

	@Override
	public void close() {
		this.close.run();
	}

}
