package io.queuestarter.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Timer that runs what is due when a test says so, on the test's thread.
 */
public final class ManualTimer extends AbstractExecutorService implements ScheduledExecutorService {

	private final ManualClock clock;

	private final PriorityBlockingQueue<Task> tasks = new PriorityBlockingQueue<>(11,
			Comparator.comparingLong((task) -> task.dueNanos));

	private volatile boolean shutdown;

	public ManualTimer(ManualClock clock) {
		this.clock = clock;
	}

	/**
	 * Runs what is due by now, and what becomes due at once meanwhile.
	 */
	public void runDue() {
		Task task = this.tasks.peek();
		while (task != null && task.dueNanos - this.clock.nanoTime() <= 0) {
			this.tasks.remove(task);
			task.run();
			task = this.tasks.peek();
		}
	}

	/**
	 * Delays of the tasks that wait, shortest first.
	 */
	public List<Long> delaysNanos() {
		return this.tasks.stream().map((task) -> task.dueNanos - this.clock.nanoTime()).sorted().toList();
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
		if (this.shutdown) {
			throw new RejectedExecutionException("Shut down");
		}
		return add(new Task(command, this.clock.nanoTime() + unit.toNanos(delay), 0));
	}

	private Task add(Task task) {
		this.tasks.add(task);
		return task;
	}

	@Override
	public void execute(Runnable command) {
		schedule(command, 0, TimeUnit.NANOSECONDS);
	}

	@Override
	public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
		throw new UnsupportedOperationException();
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
		throw new UnsupportedOperationException();
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
		return add(new Task(command, this.clock.nanoTime() + unit.toNanos(initialDelay), unit.toNanos(delay)));
	}

	@Override
	public void shutdown() {
		this.shutdown = true;
	}

	@Override
	public List<Runnable> shutdownNow() {
		this.shutdown = true;
		List<Runnable> waiting = new ArrayList<>(this.tasks);
		this.tasks.clear();
		return waiting;
	}

	@Override
	public boolean isShutdown() {
		return this.shutdown;
	}

	@Override
	public boolean isTerminated() {
		return this.shutdown;
	}

	@Override
	public boolean awaitTermination(long timeout, TimeUnit unit) {
		return this.shutdown;
	}

	private final class Task extends FutureTask<Void> implements ScheduledFuture<Void> {

		private final long periodNanos;

		private long dueNanos;

		Task(Runnable command, long dueNanos, long periodNanos) {
			super(command, null);
			this.dueNanos = dueNanos;
			this.periodNanos = periodNanos;
		}

		@Override
		public void run() {
			if (this.periodNanos == 0) {
				super.run();
			}
			else if (runAndReset()) {
				this.dueNanos = ManualTimer.this.clock.nanoTime() + this.periodNanos;
				add(this);
			}
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			ManualTimer.this.tasks.remove(this);
			return super.cancel(mayInterruptIfRunning);
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return unit.convert(this.dueNanos - ManualTimer.this.clock.nanoTime(), TimeUnit.NANOSECONDS);
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
		}

	}

}
