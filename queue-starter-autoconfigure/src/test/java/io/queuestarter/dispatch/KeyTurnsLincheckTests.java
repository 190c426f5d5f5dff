package io.queuestarter.dispatch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Interleavings;

/**
 * Tasks of one key run and fail, are tried again, end elsewhere, and their queue goes and
 * comes back, all at one time: whatever the schedule, none runs beside another or before
 * one that was submitted earlier and is not over, and none is forgotten.
 */
@Tag("lincheck")
class KeyTurnsLincheckTests {

	@Test
	void noScheduleBreaksTheOrderOfAKey() {
		Interleavings.exploreFew(Alone.class);
	}

	@Test
	void orderOfAKeyStandsStress() {
		Interleavings.stress(Alone.class);
	}

	@Test
	void noScheduleBreaksTheOrderOfAKeyWithinBatches() {
		Interleavings.exploreFew(Together.class);
	}

	@Test
	void orderOfAKeyWithinBatchesStandsStress() {
		Interleavings.stress(Together.class);
	}

	/**
	 * At the beginning three tasks are submitted and a worker is started. Tasks with an
	 * odd number fail once, the others are answered later than their run returns.
	 */
	public abstract static class Operations {

		final ConcurrentLinkedQueue<Runnable> workers = new ConcurrentLinkedQueue<>();

		private final CopyOnWriteArrayList<Task> tasks = new CopyOnWriteArrayList<>();

		private final ConcurrentLinkedQueue<Task> backoff = new ConcurrentLinkedQueue<>();

		/** Runs whose answer is still to come. */
		private final ConcurrentLinkedQueue<Taken<Task>> open = new ConcurrentLinkedQueue<>();

		private final AtomicInteger running = new AtomicInteger();

		private final AtomicReference<@Nullable String> broken = new AtomicReference<>();

		private final AtomicInteger submitted = new AtomicInteger();

		private final Dispatcher<Task> dispatcher = dispatcher();

		private final TaskQueue<Task> retries = this.dispatcher.openAside(1);

		private volatile TaskQueue<Task> queue = withThreeTasks();

		abstract Dispatcher<Task> dispatcher();

		private TaskQueue<Task> withThreeTasks() {
			TaskQueue<Task> first = this.dispatcher.open(0);
			for (int i = 0; i < 3; i++) {
				submit(first);
			}
			return first;
		}

		private void submit(TaskQueue<Task> to) {
			Task task = new Task(this.submitted.incrementAndGet());
			this.tasks.add(task);
			this.dispatcher.submit(to, task);
		}

		/** Answers which runs ended with the call; one that is over begins nothing. */
		Collection<Taken<Task>> run(List<Taken<Task>> batch) {
			List<Task> begun = new ArrayList<>();
			for (Taken<Task> taken : batch) {
				if (!taken.task().over) {
					begins(taken.task(), begun);
					begun.add(taken.task());
				}
			}
			if (!begun.isEmpty() && this.running.getAndAdd(begun.size()) != 0) {
				this.broken.set(begun + " runs beside another");
			}
			List<Taken<Task>> ended = new ArrayList<>();
			for (Taken<Task> taken : batch) {
				if (begun.contains(taken.task()) && taken.task().number % 2 == 0) {
					this.open.add(taken);
				}
				else {
					ended.add(taken);
				}
			}
			for (Taken<Task> taken : ended) {
				if (begun.contains(taken.task())) {
					this.running.decrementAndGet();
					returns(taken.task());
				}
			}
			return ended;
		}

		private void begins(Task task, List<Task> inFront) {
			for (Task other : this.tasks) {
				if (other.number < task.number && !other.over && !inFront.contains(other)) {
					this.broken.set(task + " runs before " + other);
				}
			}
		}

		private void returns(Task task) {
			if (task.failed) {
				task.over = true;
			}
			else {
				task.failed = true;
				this.backoff.add(task);
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
		public void answerComes() {
			Taken<Task> taken = this.open.poll();
			if (taken != null) {
				this.running.decrementAndGet();
				taken.task().over = true;
				this.dispatcher.release(taken.slot());
			}
		}

		@Operation
		public void timerFires() {
			Task task = this.backoff.poll();
			if (task != null) {
				this.dispatcher.submit(this.retries, task);
			}
		}

		/** The first that is not over, or the one behind it, wherever it is. */
		@Operation
		public void taskIsMovedAside(@Param(gen = BooleanGen.class) boolean first) {
			boolean skip = !first;
			for (Task task : this.tasks) {
				if (!task.over && !skip) {
					end(task);
					return;
				}
				skip &= task.over;
			}
		}

		private void end(Task task) {
			task.over = true;
			this.queue.ended(task);
		}

		@Operation(nonParallelGroup = "consumer")
		public void submit() {
			submit(this.queue);
		}

		@Operation(runOnce = true, nonParallelGroup = "consumer")
		public void close() {
			this.dispatcher.close(this.queue);
			this.tasks.forEach(this::end);
			this.queue = this.dispatcher.open(0);
		}

		@Validate
		public void noneIsForgotten() {
			while (!this.workers.isEmpty() || !this.backoff.isEmpty() || !this.open.isEmpty()) {
				startedWorkerRuns();
				timerFires();
				answerComes();
			}
			if (this.broken.get() != null) {
				throw new IllegalStateException(this.broken.get());
			}
			for (Task task : this.tasks) {
				if (!task.over) {
					throw new IllegalStateException(task + " was forgotten");
				}
			}
			if (this.dispatcher.waitingForTurn() != 0 || this.dispatcher.keysInTurn() != 0) {
				throw new IllegalStateException(this.dispatcher.waitingForTurn() + " wait for their turn, "
						+ this.dispatcher.keysInTurn() + " have it");
			}
		}

	}

	/** Each task runs alone. */
	public static class Alone extends Operations {

		@Override
		Dispatcher<Task> dispatcher() {
			return new Dispatcher<>(2, 0, this.workers::add,
					(task, slot) -> !run(List.of(new Taken<>(task, slot))).isEmpty(), () -> {
					}, Task.ORDER);
		}

	}

	/** Two tasks run together. */
	public static class Together extends Operations {

		@Override
		Dispatcher<Task> dispatcher() {
			return new Dispatcher<>(3, 0, this.workers::add, (task, slot) -> true, () -> {
			}, Task.ORDER, new Batching<>(2, 0, this::run));
		}

	}

	private static final class Task {

		private static final TaskOrder<Task> ORDER = new TaskOrder<>() {

			@Override
			public Object keyOf(Task task) {
				return "key";
			}

			@Override
			public boolean isOver(Task task) {
				return task.over;
			}

		};

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
