package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The dispatcher on one thread: workers run when the test says so.
 */
class DispatcherTests {

	private final ManualWorkers workers = new ManualWorkers();

	private final List<String> ran = new ArrayList<>();

	private final List<Integer> detached = new ArrayList<>();

	private Runnable onTold = () -> {
	};

	@Test
	void tasksAsideTakeNoMoreThanTheirShareWhileOthersWait() {
		List<String> running = new ArrayList<>();
		ArrayDeque<Runnable> workers = new ArrayDeque<>();
		Dispatcher<String> dispatcher = new Dispatcher<>(4, 0, workers::add, (task, slot) -> {
			running.add(task);
			return false;
		}, () -> {
		});
		TaskQueue<String> fresh = dispatcher.open(0);
		TaskQueue<String> aside = dispatcher.openAside(1);
		dispatcher.submit(aside, List.of("r1", "r2", "r3", "r4"));
		dispatcher.submit(fresh, List.of("f1", "f2", "f3", "f4"));

		workers.forEach(Runnable::run);
		assertThat(running).containsExactlyInAnyOrder("r1", "f1", "f2", "f3");

		dispatcher.release(0);
		dispatcher.release(1);
		List.copyOf(workers).forEach(Runnable::run);
		assertThat(running).as("nothing fresh waits any more").contains("f4").hasSize(6);
	}

	@Test
	void tasksOfOneQueueRunInTheOrderOfTheirSubmission() {
		Dispatcher<String> dispatcher = dispatcher(2, 0);
		TaskQueue<String> queue = dispatcher.open(0);

		dispatcher.submit(queue, List.of("a", "b", "c"));
		dispatcher.submit(queue, "d");
		this.workers.runAll();

		assertThat(this.ran).containsExactly("a", "b", "c", "d");
		assertThat(dispatcher.waiting()).isZero();
		assertThat(dispatcher.inFlight()).isZero();
	}

	@Test
	void startsNoMoreWorkersThanTasksAndSlots() {
		Dispatcher<String> dispatcher = dispatcher(3, 0);
		TaskQueue<String> queue = dispatcher.open(0);

		dispatcher.submit(queue, "a");
		assertThat(this.workers.waiting).hasSize(1);
		dispatcher.submit(queue, List.of("b", "c", "d", "e"));

		assertThat(this.workers.waiting).hasSize(3);
		this.workers.runAll();
		assertThat(this.ran).hasSize(5);
	}

	@Test
	void quickTasksAreDoneByAFewWorkers() {
		Dispatcher<String> dispatcher = dispatcher(1000, 0);

		dispatcher.submit(dispatcher.open(0), IntStream.range(0, 1000).mapToObj((i) -> "quick " + i).toList());
		assertThat(this.workers.waiting).hasSizeLessThan(10);
		this.workers.waiting.remove().run();

		assertThat(this.ran).hasSize(1000);
		assertThat(this.workers.waiting).hasSizeLessThan(10);
	}

	@Test
	void workerThatCannotStartTheNextRunsTasksAllTheSame() {
		Dispatcher<String> dispatcher = dispatcher(1000, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		List<String> tasks = IntStream.range(0, 100).mapToObj((i) -> "quick " + i).toList();
		dispatcher.submit(queue, tasks);
		int started = this.workers.waiting.size();
		this.workers.failAfter(0, new OutOfMemoryError("no native thread"));

		this.workers.runAll();

		assertThat(this.ran).hasSize(100);
		this.workers.failAfter(Integer.MAX_VALUE, new RejectedExecutionException());
		dispatcher.submit(queue, tasks);
		assertThat(this.workers.waiting).hasSize(started);
	}

	@Test
	void emptySubmissionStartsNothing() {
		Dispatcher<String> dispatcher = dispatcher(3, 0);

		dispatcher.submit(dispatcher.open(0), List.of());

		assertThat(this.workers.waiting).isEmpty();
	}

	@Test
	void queuesTakeTurnsTaskByTask() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> first = dispatcher.open(0);
		TaskQueue<String> second = dispatcher.open(0);
		TaskQueue<String> aside = dispatcher.openAside(Integer.MAX_VALUE);

		dispatcher.submit(first, List.of("a1", "a2", "a3"));
		dispatcher.submit(second, List.of("b1", "b2"));
		dispatcher.submit(aside, List.of("c1"));
		this.workers.runAll();

		assertThat(this.ran).containsExactly("a1", "b1", "c1", "a2", "b2", "a3");
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 4 })
	void longQueueDelaysAnotherByAtMostOneTaskPerSlot(int slots) {
		List<Integer> free = new ArrayList<>();
		Dispatcher<String> dispatcher = new Dispatcher<>(slots, 0, this.workers, (task, slot) -> {
			this.ran.add(task);
			free.add(slot);
			return false;
		}, this::tell);
		TaskQueue<String> longQueue = dispatcher.open(0);
		TaskQueue<String> other = dispatcher.open(0);
		dispatcher.submit(longQueue, IntStream.range(0, 10_000).mapToObj((i) -> "long " + i).toList());
		this.workers.runAll();
		assertThat(this.ran).hasSize(slots);

		dispatcher.submit(other, "other");
		for (int i = 0; i < 2 && !this.ran.contains("other"); i++) {
			dispatcher.release(free.remove(0));
			this.workers.runAll();
		}

		assertThat(this.ran).contains("other").hasSizeLessThanOrEqualTo(slots + 2);
	}

	@Test
	void detachedTaskKeepsItsSlotUntilItIsReleased() {
		Dispatcher<String> dispatcher = dispatcher(2, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		dispatcher.submit(queue, List.of("detached 1", "detached 2", "a", "b"));
		this.workers.runAll();
		assertThat(this.ran).containsExactly("detached 1", "detached 2");
		assertThat(dispatcher.inFlight()).isEqualTo(2);
		List<String> inFlight = new ArrayList<>();
		dispatcher.forEachInFlight(inFlight::add);
		assertThat(inFlight).containsExactlyInAnyOrder("detached 1", "detached 2");

		dispatcher.release(this.detached.get(1));
		this.workers.runAll();

		assertThat(this.ran).containsExactly("detached 1", "detached 2", "a", "b");
		assertThat(dispatcher.inFlight()).isOne();
		dispatcher.release(this.detached.get(0));
		assertThat(dispatcher.inFlight()).isZero();
		assertThat(this.workers.waiting).isEmpty();
	}

	@Test
	void slotIsReleasedOnce() {
		Dispatcher<String> dispatcher = dispatcher(2, 0);
		dispatcher.submit(dispatcher.open(0), "detached");
		this.workers.runAll();
		int slot = this.detached.get(0);
		dispatcher.release(slot);

		assertThatIllegalStateException().isThrownBy(() -> dispatcher.release(slot));

		assertThat(dispatcher.inFlight()).isZero();
	}

	@Test
	void closedQueueThatLeavesRoomIsTold() {
		Dispatcher<String> dispatcher = dispatcher(1, 2);
		TaskQueue<String> closed = dispatcher.open(0);
		dispatcher.submit(closed, List.of("a", "b", "c"));
		dispatcher.submit(dispatcher.open(0), List.of("d", "e"));
		List<Integer> toldAt = recordTold(dispatcher);

		dispatcher.close(closed);

		assertThat(toldAt).containsExactly(2);
	}

	@Test
	void closedQueueDropsWhatWaitsAndWhatComes() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> closed = dispatcher.open(0);
		TaskQueue<String> other = dispatcher.open(0);
		dispatcher.submit(closed, List.of("detached", "a", "b"));
		this.workers.runAll();
		dispatcher.submit(other, "c");

		dispatcher.close(closed);
		dispatcher.submit(closed, "d");

		assertThat(dispatcher.waiting(closed)).isZero();
		assertThat(dispatcher.waiting()).isOne();
		assertThat(dispatcher.inFlight()).isOne();
		dispatcher.release(this.detached.get(0));
		this.workers.runAll();
		assertThat(this.ran).containsExactly("detached", "c");
	}

	@Test
	void workerWhoseTaskWasDroppedMeanwhileJustEnds() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		dispatcher.submit(queue, "a");
		dispatcher.close(queue);
		this.workers.runAll();
		assertThat(dispatcher.inFlight()).isZero();

		dispatcher.submit(dispatcher.open(0), "b");
		this.workers.runAll();

		assertThat(this.ran).containsExactly("b");
	}

	@Test
	void stoppedDispatcherTakesNoTaskAndKeepsWhatWaits() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		dispatcher.submit(queue, List.of("detached", "a"));
		this.workers.runAll();

		dispatcher.stop();
		dispatcher.release(this.detached.get(0));
		dispatcher.submit(queue, "b");
		this.workers.runAll();

		assertThat(this.ran).containsExactly("detached");
		assertThat(dispatcher.waiting()).isEqualTo(2);
		assertThat(dispatcher.inFlight()).isZero();
	}

	@Test
	void listenerIsToldWhenTheWaitingTasksReachTheCommonLowMark() {
		Dispatcher<String> dispatcher = dispatcher(1, 2);
		TaskQueue<String> first = dispatcher.open(-1);
		TaskQueue<String> second = dispatcher.open(-1);
		List<Integer> toldAt = recordTold(dispatcher);

		dispatcher.submit(first, List.of("a", "b", "c"));
		dispatcher.submit(second, List.of("d", "e"));
		this.workers.runAll();

		assertThat(toldAt).containsExactly(2);
	}

	@Test
	void listenerIsToldWhenTheWaitingTasksOfAQueueReachItsLowMark() {
		Dispatcher<String> dispatcher = dispatcher(1, -1);
		TaskQueue<String> queue = dispatcher.open(3);
		List<Integer> toldAt = recordTold(dispatcher);

		dispatcher.submit(queue, List.of("a", "b", "c", "d", "e"));
		this.workers.runAll();

		assertThat(toldAt).containsExactly(3);
	}

	@Test
	void tasksAsideAreNotCountedAsWaiting() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> aside = dispatcher.openAside(Integer.MAX_VALUE);
		dispatcher.submit(aside, List.of("detached", "a", "b"));
		assertThat(dispatcher.waiting()).isZero();
		assertThat(dispatcher.waiting(aside)).isEqualTo(3);
		this.workers.runAll();

		dispatcher.submit(dispatcher.open(0), "c");
		assertThat(dispatcher.waiting()).isOne();
		dispatcher.release(this.detached.get(0));
		this.workers.runAll();

		assertThat(this.ran).hasSize(4);
		assertThat(dispatcher.waiting()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void executorThatThrowsLosesNoTaskAndLeaksNoSlot(int accepted) {
		Dispatcher<String> dispatcher = dispatcher(3, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		for (Throwable error : List.of(new RejectedExecutionException(), new OutOfMemoryError("no native thread"))) {
			this.ran.clear();
			this.workers.failAfter(accepted, error);
			assertThatExceptionOfType(error.getClass())
				.isThrownBy(() -> dispatcher.submit(queue, List.of("a", "b", "c", "d")));
			assertThat(dispatcher.waiting()).isEqualTo(4);
			assertThat(dispatcher.inFlight()).isZero();

			this.workers.failAfter(Integer.MAX_VALUE, error);
			dispatcher.submit(queue, "e");

			assertThat(this.workers.waiting).hasSize(3);
			this.workers.runAll();
			assertThat(this.ran).containsExactly("a", "b", "c", "d", "e");
			assertThat(dispatcher.inFlight()).isZero();
		}
	}

	@Test
	void executorThatThrowsOnReleaseIsNotToldAndLosesNoTaskNorSlot() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		dispatcher.submit(queue, List.of("detached", "a"));
		this.workers.runAll();
		this.workers.failAfter(0, new RejectedExecutionException());
		dispatcher.release(this.detached.get(0));
		assertThat(dispatcher.inFlight()).isZero();
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(dispatcher::catchUp);

		this.workers.failAfter(Integer.MAX_VALUE, new RejectedExecutionException());
		dispatcher.submit(queue, "b");
		this.workers.runAll();

		assertThat(this.ran).containsExactly("detached", "a", "b");
	}

	@Test
	void catchUpStartsWhatCouldNotBeStartedBefore() {
		Dispatcher<String> dispatcher = dispatcher(2, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		this.workers.failAfter(0, new RejectedExecutionException());
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> dispatcher.submit(queue, List.of("a", "b", "c")));

		this.workers.failAfter(Integer.MAX_VALUE, new RejectedExecutionException());
		dispatcher.catchUp();
		dispatcher.catchUp();

		assertThat(this.workers.waiting).hasSize(2);
		this.workers.runAll();
		assertThat(this.ran).containsExactly("a", "b", "c");
	}

	@Test
	void startTakesUpWhatWaitedWhileStopped() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		dispatcher.stop();
		dispatcher.submit(dispatcher.open(0), List.of("a", "b"));
		dispatcher.catchUp();
		assertThat(this.workers.waiting).isEmpty();

		dispatcher.start();
		this.workers.runAll();

		assertThat(this.ran).containsExactly("a", "b");
	}

	@Test
	void runnerThatThrowsLeaksNoSlot() {
		Dispatcher<String> dispatcher = dispatcher(1, 0);
		TaskQueue<String> queue = dispatcher.open(0);
		dispatcher.submit(queue, List.of("throw", "throw", "a"));

		assertThatIllegalStateException().isThrownBy(this.workers::runAll).withMessage("runner");
		assertThatIllegalStateException().isThrownBy(this.workers::runAll).withMessage("runner");
		this.workers.runAll();

		assertThat(this.ran).containsExactly("a");
		assertThat(dispatcher.inFlight()).isZero();
	}

	@Test
	void executorMayRunWorkersOnTheCallersThread() {
		Dispatcher<String> dispatcher = new Dispatcher<>(2, 0, Runnable::run, this::run, this::tell);
		TaskQueue<String> queue = dispatcher.open(0);

		dispatcher.submit(queue, List.of("a", "b", "c"));

		assertThat(this.ran).containsExactly("a", "b", "c");
		assertThat(dispatcher.inFlight()).isZero();
	}

	@Test
	void needsASlot() {
		assertThatIllegalArgumentException().isThrownBy(() -> dispatcher(0, 0))
			.withMessage("'maxInFlight' must be at least 1: 0");
		assertThat(dispatcher(7, 0).limit()).isEqualTo(7);
	}

	private List<Integer> recordTold(Dispatcher<String> dispatcher) {
		List<Integer> toldAt = new ArrayList<>();
		this.onTold = () -> toldAt.add(dispatcher.waiting());
		return toldAt;
	}

	private Dispatcher<String> dispatcher(int slots, int lowMark) {
		return new Dispatcher<>(slots, lowMark, this.workers, this::run, this::tell);
	}

	private boolean run(String task, int slot) {
		if (task.equals("throw")) {
			throw new IllegalStateException("runner");
		}
		this.ran.add(task);
		if (task.startsWith("detached")) {
			this.detached.add(slot);
			return false;
		}
		return true;
	}

	private void tell() {
		this.onTold.run();
	}

	/** Executor whose workers wait until the test lets them run. */
	private static final class ManualWorkers implements Executor {

		final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

		private int accepts = Integer.MAX_VALUE;

		private Throwable error = new RejectedExecutionException();

		void failAfter(int accepted, Throwable failure) {
			this.accepts = accepted;
			this.error = failure;
		}

		@Override
		public void execute(Runnable worker) {
			if (this.accepts-- <= 0) {
				if (this.error instanceof Error fatal) {
					throw fatal;
				}
				throw (RuntimeException) this.error;
			}
			this.waiting.add(worker);
		}

		void runAll() {
			for (Runnable worker = this.waiting.poll(); worker != null; worker = this.waiting.poll()) {
				worker.run();
			}
		}

	}

}
