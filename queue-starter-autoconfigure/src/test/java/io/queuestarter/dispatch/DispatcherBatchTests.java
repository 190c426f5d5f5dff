package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Workers take several tasks, each with a slot of its own. Workers are run by the test,
 * except where they linger.
 */
@Tag("threads")
class DispatcherBatchTests {

	private static final int STEPS = 100_000;

	private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

	private final List<List<String>> ran = new ArrayList<>();

	private int told;

	@Test
	void workerTakesWhatIsReadyUpToTheSize() {
		Dispatcher<String> dispatcher = dispatcher(100, 0, 3, null);

		dispatcher.submit(dispatcher.open(0), tasks("a", 7));
		assertThat(this.workers).hasSize(3);
		work();

		assertThat(this.ran).containsExactly(List.of("a0", "a1", "a2"), List.of("a3", "a4", "a5"), List.of("a6"));
		assertThat(dispatcher.inFlight()).isZero();
	}

	@Test
	void queuesTakeTurnsWithinABatch() {
		Dispatcher<String> dispatcher = dispatcher(100, 0, 4, null);
		TaskQueue<String> one = dispatcher.open(0);
		TaskQueue<String> two = dispatcher.open(0);

		dispatcher.submit(one, tasks("a", 3));
		dispatcher.submit(two, tasks("b", 3));
		work();

		assertThat(this.ran).containsExactly(List.of("a0", "b0", "a1", "b1"), List.of("a2", "b2"));
	}

	@Test
	void batchIsNoLargerThanTheSlotsThatAreFree() {
		List<Taken<String>> running = new ArrayList<>();
		Dispatcher<String> dispatcher = new Dispatcher<>(5, 0, this.workers::add, (task, slot) -> true, () -> {
		}, null, new Batching<>(3, 0, (batch) -> {
			running.addAll(batch);
			return List.of();
		}));

		dispatcher.submit(dispatcher.open(0), tasks("a", 9));
		work();
		assertThat(running).extracting(Taken::task).containsExactly("a0", "a1", "a2", "a3", "a4");
		assertThat(running).extracting(Taken::slot).doesNotHaveDuplicates();
		assertThat(dispatcher.inFlight()).isEqualTo(5);

		List.copyOf(running).forEach((taken) -> dispatcher.release(taken.slot()));
		work();

		assertThat(running).hasSize(9);
		assertThat(dispatcher.waiting()).isZero();
	}

	@Test
	void tasksOfQueuesAsideRunAloneAndKeepNobodyElseFromWorking() {
		Dispatcher<String> dispatcher = dispatcher(100, 0, 4, null);
		TaskQueue<String> aside = dispatcher.openAside(50);

		dispatcher.submit(aside, tasks("again", 3));
		assertThat(this.workers).hasSize(3);
		dispatcher.submit(dispatcher.open(0), tasks("a", 4));
		work();

		assertThat(this.ran).containsExactlyInAnyOrder(List.of("again0"), List.of("again1"), List.of("again2"),
				List.of("a0", "a1", "a2", "a3"));
	}

	@Test
	void roomIsToldWhenABatchHasTakenTheTaskAboveTheMark() {
		Dispatcher<String> dispatcher = dispatcher(100, 2, 4, null);

		dispatcher.submit(dispatcher.open(-1), tasks("a", 5));
		this.workers.remove().run();

		assertThat(this.told).isOne();
		assertThat(this.ran.get(0)).hasSize(4);
	}

	@Test
	void slotsOfABatchWhoseRunnerThrowsAreFree() {
		Dispatcher<String> dispatcher = dispatcher(3, 0, 3, null);
		TaskQueue<String> queue = dispatcher.open(0);

		dispatcher.submit(queue, List.of("throw", "a", "b"));
		Runnable worker = this.workers.remove();
		assertThat(catchThrowable(worker::run)).hasMessage("runner");

		assertThat(dispatcher.inFlight()).isZero();
		dispatcher.submit(queue, "c");
		work();
		assertThat(this.ran).contains(List.of("c"));
	}

	@Test
	void nothingIsTakenAfterAStop() {
		Dispatcher<String> dispatcher = dispatcher(10, 0, 2, null);
		dispatcher.submit(dispatcher.open(0), tasks("a", 3));

		dispatcher.stop();
		work();
		assertThat(this.ran).isEmpty();

		dispatcher.start();
		work();
		assertThat(this.ran).containsExactly(List.of("a0", "a1"), List.of("a2"));
	}

	@Test
	void tasksThatComeWhileABatchLingersJoinItAndNoOtherWorkerIsStarted() throws InterruptedException {
		List<List<String>> batches = new ArrayList<>();
		CountDownLatch ran = new CountDownLatch(1);
		List<Runnable> started = new ArrayList<>();
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			Dispatcher<String> dispatcher = new Dispatcher<>(10, 0, (worker) -> {
				started.add(worker);
				threads.execute(worker);
			}, (task, slot) -> true, () -> {
			}, null, new Batching<>(3, TimeUnit.MINUTES.toNanos(5), (batch) -> {
				batches.add(batch.stream().map(Taken::task).toList());
				ran.countDown();
				return batch;
			}));
			TaskQueue<String> queue = dispatcher.open(0);
			dispatcher.submit(queue, "a");
			awaitInFlight(dispatcher, 1);
			dispatcher.submit(queue, "b");
			awaitInFlight(dispatcher, 2);
			assertThat(batches).isEmpty();
			dispatcher.submit(queue, "c");

			assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
			assertThat(batches).containsExactly(List.of("a", "b", "c"));
			assertThat(started).hasSize(1);
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void workerThatEndsLeavesTasksToABatchThatLingers() throws InterruptedException {
		List<List<String>> batches = Collections.synchronizedList(new ArrayList<>());
		CountDownLatch ran = new CountDownLatch(1);
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			AtomicReference<Runnable> onAside = new AtomicReference<>();
			Dispatcher<String> dispatcher = new Dispatcher<>(10, 0, threads, (task, slot) -> true, () -> {
			}, null, new Batching<>(3, TimeUnit.MINUTES.toNanos(5), (batch) -> {
				if (batch.get(0).task().equals("again")) {
					Objects.requireNonNull(onAside.get()).run();
				}
				else {
					batches.add(batch.stream().map(Taken::task).toList());
					ran.countDown();
				}
				return batch;
			}));
			TaskQueue<String> queue = dispatcher.open(0);
			dispatcher.submit(queue, "a");
			awaitInFlight(dispatcher, 1);

			onAside.set(() -> dispatcher.submit(queue, "b"));
			dispatcher.submit(dispatcher.openAside(1), "again");
			awaitInFlight(dispatcher, 2);
			dispatcher.submit(queue, "c");

			assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
			assertThat(batches).containsExactly(List.of("a", "b", "c"));
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void stopEndsTheLinger() throws InterruptedException {
		CountDownLatch ran = new CountDownLatch(1);
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			Dispatcher<String> dispatcher = new Dispatcher<>(10, 0, threads, (task, slot) -> true, () -> {
			}, null, new Batching<>(3, TimeUnit.MINUTES.toNanos(5), (batch) -> {
				ran.countDown();
				return batch;
			}));
			dispatcher.submit(dispatcher.open(0), "a");
			awaitInFlight(dispatcher, 1);

			dispatcher.stop();

			assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
			awaitInFlight(dispatcher, 0);
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void nothingIsLostBetweenManySubmittersAndLingeringWorkers() throws InterruptedException {
		Set<String> seen = ConcurrentHashMap.newKeySet();
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			Dispatcher<String> dispatcher = new Dispatcher<>(16, 4, threads, (task, slot) -> true, () -> {
			}, null, new Batching<>(5, TimeUnit.MICROSECONDS.toNanos(200), (batch) -> {
				batch.forEach((taken) -> assertThat(seen.add(taken.task())).isTrue());
				return batch;
			}));
			CountDownLatch submitted = new CountDownLatch(4);
			for (int submitter = 0; submitter < 4; submitter++) {
				TaskQueue<String> queue = (submitter == 3) ? dispatcher.openAside(2) : dispatcher.open(2);
				String prefix = submitter + "-";
				threads.execute(() -> {
					for (int number = 0; number < 5_000; number++) {
						dispatcher.submit(queue, prefix + number);
					}
					submitted.countDown();
				});
			}
			assertThat(submitted.await(60, TimeUnit.SECONDS)).isTrue();

			Awaitility.await().until(() -> seen.size() == 20_000);
			awaitInFlight(dispatcher, 0);
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void tasksOfAKeyThatWaitJoinTheOneThatHasTheirTurn() {
		Dispatcher<String> dispatcher = dispatcher(10, 0, 4, byFirstLetter());
		TaskQueue<String> queue = dispatcher.open(0);

		dispatcher.submit(queue, List.of("a0", "b0", "a1", "a2", "b1", "c0"));
		work();

		assertThat(this.ran).containsExactly(List.of("a0", "a1", "a2", "b0"), List.of("c0", "b1"));
		assertThat(dispatcher.waitingForTurn()).isZero();
		assertThat(dispatcher.keysInTurn()).isZero();
	}

	/** Others look for tasks between the answer of a run and the end of its slots. */
	@Test
	void noTaskJoinsOneThatIsTakenAgainWhileItsCompanionWaitsBehindIt() {
		List<String> runs = new ArrayList<>();
		AtomicReference<@Nullable Dispatcher<KeyedTask>> current = new AtomicReference<>();
		AtomicReference<@Nullable TaskQueue<KeyedTask>> queue = new AtomicReference<>();
		Dispatcher<KeyedTask> dispatcher = new Dispatcher<>(10, 0, this.workers::add, (task, slot) -> true, () -> {
		}, KeyedTask.ORDER, new Batching<>(2, 0, (batch) -> {
			List<KeyedTask> tasks = batch.stream().map(Taken::task).toList();
			runs.add(tasks.toString());
			for (KeyedTask task : tasks) {
				task.over = runs.size() > 2;
				if (!task.over) {
					Objects.requireNonNull(current.get()).giveBack(Objects.requireNonNull(queue.get()), task);
				}
			}
			work();
			return batch;
		}));
		current.set(dispatcher);
		queue.set(dispatcher.open(0));

		dispatcher.submit(Objects.requireNonNull(queue.get()),
				IntStream.range(0, 4).mapToObj((number) -> new KeyedTask("k", number)).toList());
		work();

		assertThat(runs).containsExactly("[k-0, k-1]", "[k-0]", "[k-0]", "[k-1, k-2]", "[k-3]");
		assertThat(dispatcher.waitingForTurn()).isZero();
	}

	@Test
	void orderOfEachKeyHoldsWhateverHappensToItsBatches() {
		SplittableRandom random = Seeds.random("DispatcherBatchTests");
		int step = 0;
		while (step < STEPS) {
			Model model = new Model(random);
			int end = Math.min(STEPS, step + 1_000);
			for (; step < end; step++) {
				model.step();
			}
			model.finish();
		}
	}

	private static void awaitInFlight(Dispatcher<?> dispatcher, int count) {
		Awaitility.await().until(() -> dispatcher.inFlight() == count);
	}

	private static List<String> tasks(String prefix, int count) {
		return IntStream.range(0, count).mapToObj((number) -> prefix + number).toList();
	}

	private static TaskOrder<String> byFirstLetter() {
		return new TaskOrder<>() {

			@Override
			public Object keyOf(String task) {
				return task.substring(0, 1);
			}

			@Override
			public boolean isOver(String task) {
				return true;
			}

		};
	}

	private Dispatcher<String> dispatcher(int slots, int lowMark, int size, @Nullable TaskOrder<String> order) {
		return new Dispatcher<>(slots, lowMark, this.workers::add, (task, slot) -> true, () -> this.told++, order,
				new Batching<>(size, 0, (batch) -> {
					if (batch.get(0).task().equals("throw")) {
						throw new IllegalStateException("runner");
					}
					this.ran.add(batch.stream().map(Taken::task).toList());
					return batch;
				}));
	}

	private void work() {
		while (!this.workers.isEmpty()) {
			this.workers.remove().run();
		}
	}

	/**
	 * Two partitions that come and go. Each task of a batch ends with it, or later and
	 * without a thread; it is over then, or is to run again at once, together with
	 * others, or later and alone. Some are over without having run again.
	 */
	private static final class Model {

		private final SplittableRandom random;

		private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

		private final Map<Integer, KeyedTask> running = new HashMap<>();

		private final List<KeyedTask> failed = new ArrayList<>();

		private final Dispatcher<KeyedTask> dispatcher;

		private final TaskQueue<KeyedTask> again;

		private final List<TaskQueue<KeyedTask>> queues = new ArrayList<>();

		/** Not over, in order, by partition. */
		private final List<List<KeyedTask>> tasks = new ArrayList<>();

		private int number;

		Model(SplittableRandom random) {
			this.random = random;
			this.dispatcher = new Dispatcher<>(1 + random.nextInt(8), 0, this.workers::add, (task, slot) -> true,
					() -> {
					}, KeyedTask.ORDER, new Batching<>(1 + random.nextInt(5), 0, this::run));
			this.again = this.dispatcher.openAside(2);
			for (int partition = 0; partition < 2; partition++) {
				this.queues.add(this.dispatcher.open(0));
				this.tasks.add(new ArrayList<>());
			}
		}

		private Collection<Taken<KeyedTask>> run(List<Taken<KeyedTask>> batch) {
			Set<KeyedTask> members = new HashSet<>();
			batch.forEach((taken) -> {
				assertIsFirst(taken.task(), members);
				members.add(taken.task());
			});
			batch.forEach((taken) -> this.running.put(taken.slot(), taken.task()));
			List<Taken<KeyedTask>> ended = new ArrayList<>();
			for (Taken<KeyedTask> taken : batch) {
				// One that was over while it waited for a slot does not begin.
				if (taken.task().over || this.random.nextBoolean()) {
					decide(taken.task());
					this.running.remove(taken.slot());
					ended.add(taken);
				}
			}
			// Others go on before the slots of this run are free.
			while (this.random.nextInt(3) == 0) {
				work();
			}
			return ended;
		}

		/** All of its key that came before are over, or run in front of it. */
		private void assertIsFirst(KeyedTask task, Set<KeyedTask> before) {
			if (task.key == null || task.over) {
				return;
			}
			assertThat(this.running.values()).as("beside %s", task)
				.allMatch((other) -> other == task || !task.key.equals(other.key));
			List<KeyedTask> partition = this.tasks.get(this.tasks.get(0).contains(task) ? 0 : 1);
			assertThat(partition.subList(0, partition.indexOf(task))).as("before %s", task)
				.filteredOn((other) -> task.key.equals(other.key))
				.allMatch((other) -> other.over || before.contains(other));
		}

		private void decide(KeyedTask task) {
			if (task.over) {
				return;
			}
			switch (this.random.nextInt(4)) {
				case 0 -> this.failed.add(task);
				case 1 -> this.dispatcher.giveBack(this.queues.get(this.tasks.get(0).contains(task) ? 0 : 1), task);
				default -> end(task);
			}
		}

		private void end(KeyedTask task) {
			task.over = true;
			this.tasks.forEach((partition) -> partition.remove(task));
		}

		void step() {
			int partition = this.random.nextInt(2);
			switch (this.random.nextInt(12)) {
				case 0, 1, 2 -> {
					List<KeyedTask> tasks = new ArrayList<>();
					for (int count = this.random.nextInt(4); count >= 0; count--) {
						String key = (this.random.nextInt(5) == 0) ? null : partition + ":" + this.random.nextInt(3);
						tasks.add(new KeyedTask(key, this.number++));
					}
					this.tasks.get(partition).addAll(tasks);
					this.dispatcher.submit(this.queues.get(partition), tasks);
				}
				case 3, 4, 5 -> work();
				case 6, 7, 8 -> release();
				case 9, 10 -> retry();
				default -> bounce(partition);
			}
		}

		private void work() {
			Runnable worker = this.workers.poll();
			if (worker != null) {
				worker.run();
			}
		}

		private void release() {
			if (!this.running.isEmpty()) {
				List<Integer> slots = List.copyOf(this.running.keySet());
				int slot = slots.get(this.random.nextInt(slots.size()));
				decide(Objects.requireNonNull(this.running.get(slot)));
				this.running.remove(slot);
				this.dispatcher.release(slot);
			}
		}

		private void retry() {
			if (this.failed.isEmpty()) {
				return;
			}
			KeyedTask task = this.failed.remove(this.random.nextInt(this.failed.size()));
			if (task.over) {
				return;
			}
			if (this.random.nextInt(3) == 0) {
				end(task);
				this.again.ended(task);
			}
			else {
				this.dispatcher.submit(this.again, task);
			}
		}

		/** What is not over runs again, in order, from the first on. */
		private void bounce(int partition) {
			if (this.random.nextInt(10) != 0) {
				return;
			}
			TaskQueue<KeyedTask> old = this.queues.get(partition);
			this.dispatcher.close(old);
			List<KeyedTask> anew = new ArrayList<>();
			for (KeyedTask task : List.copyOf(this.tasks.get(partition))) {
				anew.add(new KeyedTask(task.key, task.number));
				task.over = true;
				if (!this.running.containsValue(task)) {
					old.ended(task);
				}
			}
			this.tasks.set(partition, anew);
			this.queues.set(partition, this.dispatcher.open(0));
			this.dispatcher.submit(this.queues.get(partition), anew);
		}

		/** Nothing is left behind, and no key is remembered. */
		void finish() {
			for (int round = 0; round < 100_000 && this.tasks.stream().anyMatch((left) -> !left.isEmpty()); round++) {
				work();
				release();
				retry();
			}
			while (!this.running.isEmpty() || !this.workers.isEmpty()) {
				work();
				release();
			}
			assertThat(this.tasks).allMatch(List::isEmpty);
			assertThat(this.dispatcher.waitingForTurn()).isZero();
			assertThat(this.dispatcher.keysInTurn()).isZero();
			assertThat(this.dispatcher.inFlight()).isZero();
		}

	}

}
