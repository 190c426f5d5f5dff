package io.queuestarter.dispatch;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Interleavings;

/**
 * Tasks of one key are submitted while workers run them, some fail and are tried again,
 * some are ended from elsewhere, and their queue is closed: whatever the schedule, one
 * runs at a time, none before one that was submitted earlier and is not over, and none is
 * forgotten.
 */
@Tag("lincheck")
class KeyTurnsLincheckTests {

	@Test
	void noScheduleBreaksTheOrderOfAKey() {
		Interleavings.explore(Operations.class);
	}

	@Test
	void orderOfAKeyStandsStress() {
		Interleavings.stress(Operations.class);
	}

	/**
	 * Every second task fails once. One thread submits and closes, as a consumer does.
	 */
	public static class Operations {

		private final ConcurrentLinkedQueue<Runnable> workers = new ConcurrentLinkedQueue<>();

		private final ConcurrentLinkedQueue<Task> tasks = new ConcurrentLinkedQueue<>();

		private final ConcurrentLinkedQueue<Task> backoff = new ConcurrentLinkedQueue<>();

		private final AtomicReference<@Nullable Task> running = new AtomicReference<>();

		private final AtomicReference<@Nullable String> broken = new AtomicReference<>();

		private final AtomicInteger submitted = new AtomicInteger();

		private volatile boolean closed;

		private final Dispatcher<Task> dispatcher = new Dispatcher<>(2, 0, this.workers::add, this::run, () -> {
		}, new TaskOrder<>() {

			@Override
			public Object keyOf(Task task) {
				return "key";
			}

			@Override
			public boolean isOver(Task task) {
				return task.over;
			}

		});

		private final TaskQueue<Task> queue = this.dispatcher.open(0);

		private final TaskQueue<Task> retries = this.dispatcher.openAside(1);

		private boolean run(Task task, int slot) {
			if (!this.running.compareAndSet(null, task)) {
				this.broken.set(task + " runs beside " + this.running.get());
			}
			for (Task other : this.tasks) {
				if (other.number < task.number && !other.over) {
					this.broken.set(task + " runs before " + other);
				}
			}
			this.running.set(null);
			if (task.number % 2 == 0 && !task.failed) {
				task.failed = true;
				this.backoff.add(task);
			}
			else {
				task.over = true;
			}
			return true;
		}

		@Operation(nonParallelGroup = "consumer")
		public void submit() {
			if (!this.closed) {
				Task task = new Task(this.submitted.incrementAndGet());
				this.tasks.add(task);
				this.dispatcher.submit(this.queue, task);
			}
		}

		@Operation
		public void startedWorkerRuns() {
			Runnable worker = this.workers.poll();
			if (worker != null) {
				worker.run();
			}
		}

		@Operation
		public void timerFires() {
			Task task = this.backoff.poll();
			if (task != null) {
				this.dispatcher.submit(this.retries, task);
			}
		}

		@Operation
		public void taskIsMovedAside() {
			Task task = this.backoff.poll();
			if (task != null) {
				task.over = true;
				this.queue.ended(task);
			}
		}

		@Operation(runOnce = true, nonParallelGroup = "consumer")
		public void close() {
			this.closed = true;
			this.dispatcher.close(this.queue);
		}

		@Validate
		public void noneIsForgotten() {
			while (!this.workers.isEmpty() || !this.backoff.isEmpty()) {
				startedWorkerRuns();
				timerFires();
			}
			if (this.broken.get() != null) {
				throw new IllegalStateException(this.broken.get());
			}
			for (Task task : this.tasks) {
				if (!task.over && !this.closed) {
					throw new IllegalStateException(task + " was forgotten");
				}
			}
			if (this.dispatcher.waitingForTurn() != 0) {
				throw new IllegalStateException(this.dispatcher.waitingForTurn() + " wait for their turn");
			}
		}

	}

	private static final class Task {

		private final int number;

		private volatile boolean failed;

		private volatile boolean over;

		Task(int number) {
			this.number = number;
		}

		@Override
		public String toString() {
			return "task " + this.number;
		}

	}

}
