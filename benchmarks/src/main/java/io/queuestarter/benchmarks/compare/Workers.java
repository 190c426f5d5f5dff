package io.queuestarter.benchmarks.compare;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Threads that an arm without threads of its own runs handlers on: virtual ones where
 * there are any, as the queue's.
 */
final class Workers implements Executor, AutoCloseable {

	private final Executor executor;

	private final Runnable close;

	private Workers(Executor executor, Runnable close) {
		this.executor = executor;
		this.close = close;
	}

	static boolean areVirtual() {
		return Runtime.version().feature() >= 21;
	}

	static Workers of(int count) {
		if (areVirtual()) {
			SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("worker-");
			executor.setVirtualThreads(true);
			executor.setConcurrencyLimit(count);
			return new Workers(executor, executor::close);
		}
		ThreadPoolExecutor pool = new ThreadPoolExecutor(count, count, 30, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>());
		pool.allowCoreThreadTimeOut(true);
		return new Workers(pool, pool::shutdownNow);
	}

	@Override
	public void execute(Runnable task) {
		this.executor.execute(task);
	}

	@Override
	public void close() {
		this.close.run();
	}

}
