package io.queuestarter.dispatch;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Interleavings;

/**
 * Tasks are submitted while workers come and go and a slot is given back: whatever the
 * schedule, each task runs once, and none is left without a worker.
 */
@Tag("lincheck")
class DispatcherLincheckTests {

	@Test
	void noScheduleBreaksTheDispatcher() {
		Interleavings.explore(Operations.class);
	}

	@Test
	void dispatcherStandsStress() {
		Interleavings.stress(Operations.class);
	}

	/**
	 * Two slots; the first task keeps its slot until it is given back.
	 */
	public static class Operations {

		private final ConcurrentLinkedQueue<Runnable> workers = new ConcurrentLinkedQueue<>();

		private final AtomicInteger submitted = new AtomicInteger();

		private final AtomicInteger ran = new AtomicInteger();

		private final Dispatcher<Integer> dispatcher = new Dispatcher<>(2, 0, this.workers::add, this::run, () -> {
		});

		private final TaskQueue<Integer> first = withOneSlotOccupied();

		private final TaskQueue<Integer> second = this.dispatcher.openAside(Integer.MAX_VALUE);

		private TaskQueue<Integer> withOneSlotOccupied() {
			TaskQueue<Integer> queue = this.dispatcher.open(0);
			this.dispatcher.submit(queue, 0);
			startedWorkerRuns();
			return queue;
		}

		private boolean run(int task, int slot) {
			this.ran.addAndGet(task);
			return task != 0;
		}

		@Operation
		public void submitToFirst() {
			this.submitted.incrementAndGet();
			this.dispatcher.submit(this.first, 1);
		}

		@Operation
		public void submitToSecond() {
			this.submitted.incrementAndGet();
			this.dispatcher.submit(this.second, 1);
		}

		@Operation
		public void startedWorkerRuns() {
			Runnable worker = this.workers.poll();
			if (worker != null) {
				worker.run();
			}
		}

		@Operation(runOnce = true)
		public void release() {
			this.dispatcher.release(0);
		}

		@Validate
		public void everyTaskRuns() {
			while (!this.workers.isEmpty()) {
				startedWorkerRuns();
			}
			if (this.ran.get() != this.submitted.get() || this.dispatcher.waiting() != 0) {
				throw new IllegalStateException(
						this.ran + " of " + this.submitted + " ran, " + this.dispatcher.waiting() + " wait");
			}
		}

	}

}
