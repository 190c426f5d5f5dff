package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tasks with the same key run one after the other, in the order in which they were
 * submitted, whatever becomes of them. In one thread: workers run when the test says so.
 */
class DispatcherOrderTests {

	private static final int STEPS = Effort.of(200_000, 20_000_000);

	private final List<Task> started = new ArrayList<>();

	private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

	private final Map<Integer, Task> running = new HashMap<>();

	private final Dispatcher<Task> dispatcher = dispatcher(3);

	private final TaskQueue<Task> queue = this.dispatcher.open(0);

	@Test
	void nextOfAKeyRunsWhenTheOneInFrontIsOverAndItsSlotFree() {
		Task first = submit("a", 0);
		Task second = submit("a", 1);
		work();
		assertThat(this.started).containsExactly(first);
		assertThat(this.dispatcher.waitingForTurn()).isOne();
		assertThat(this.dispatcher.waiting()).isZero();

		first.over = true;
		work();
		assertThat(this.started).containsExactly(first);
		release(first);
		work();

		assertThat(this.started).containsExactly(first, second);
		assertThat(this.dispatcher.waitingForTurn()).isZero();
	}

	@Test
	void taskThatIsTriedAgainKeepsItsTurn() {
		Task first = submit("a", 0);
		Task second = submit("a", 1);
		work();
		release(first);
		work();
		this.dispatcher.submit(this.queue, first);
		work();
		assertThat(this.started).containsExactly(first, first);

		first.over = true;
		release(first);
		work();

		assertThat(this.started).containsExactly(first, first, second);
	}

	@Test
	void taskThatEndsWithoutASlotPassesItsTurnOn() {
		Task first = submit("a", 0);
		Task second = submit("a", 1);
		work();
		release(first);
		first.over = true;
		this.queue.ended(first);
		this.queue.ended(first);
		work();

		assertThat(this.started).containsExactly(first, second);
	}

	@Test
	void endOfATaskThatWaitsItselfPassesNothingOn() {
		Task first = submit("a", 0);
		Task second = submit("a", 1);
		submit("a", 2);
		work();
		second.over = true;
		this.queue.ended(second);
		work();

		assertThat(this.started).containsExactly(first);
	}

	@Test
	void otherKeysAndTasksWithoutAKeyDoNotWait() {
		submit("a", 0);
		submit("a", 1);
		submit("b", 2);
		submit(null, 3);
		submit(null, 4);
		work();

		assertThat(this.started).extracting((task) -> task.number).containsExactly(0, 2, 3);
	}

	/* As after a partition that was given up comes back. */
	@Test
	void taskOfAClosedQueueIsSkippedAndTheNextWaitsForTheOneThatStillRuns() {
		Task first = submit("a", 0);
		submit("a", 1);
		work();
		this.dispatcher.close(this.queue);
		first.over = true;
		TaskQueue<Task> later = this.dispatcher.open(0);
		Task again = new Task("a", 0);
		this.dispatcher.submit(later, again);
		work();
		assertThat(this.started).containsExactly(first);

		release(first);
		work();

		assertThat(this.started).containsExactly(first, again);
	}

	@Test
	void attemptThatWasCutOffKeepsTheTurnUntilItsSlotIsFree() {
		Task first = submit("a", 0);
		Task second = submit("a", 1);
		work();
		int cutOff = slotOf(first);
		this.dispatcher.submit(this.queue, first);
		work();
		first.over = true;
		this.running.entrySet()
			.stream()
			.filter((entry) -> entry.getKey() != cutOff)
			.map(Map.Entry::getKey)
			.toList()
			.forEach(this::release);
		work();
		assertThat(this.started).containsExactly(first, first);

		release(cutOff);
		work();

		assertThat(this.started).containsExactly(first, first, second);
	}

	@Test
	void orderOfEachKeyHoldsWhateverHappens() {
		SplittableRandom random = Seeds.random("DispatcherOrderTests");
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

	private Dispatcher<Task> dispatcher(int slots) {
		return new Dispatcher<>(slots, 0, this.workers::add, (task, slot) -> {
			this.started.add(task);
			this.running.put(slot, task);
			return false;
		}, () -> {
		}, Task.ORDER);
	}

	private Task submit(@Nullable String key, int number) {
		Task task = new Task(key, number);
		this.dispatcher.submit(this.queue, task);
		return task;
	}

	private void work() {
		while (!this.workers.isEmpty()) {
			this.workers.remove().run();
		}
	}

	private int slotOf(Task task) {
		return this.running.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == task)
			.findFirst()
			.orElseThrow()
			.getKey();
	}

	private void release(Task task) {
		release(slotOf(task));
	}

	private void release(int slot) {
		this.running.remove(slot);
		this.dispatcher.release(slot);
	}

	private static final class Task {

		static final TaskOrder<Task> ORDER = new TaskOrder<>() {

			@Override
			public @Nullable Object keyOf(Task task) {
				return task.key;
			}

			@Override
			public boolean isOver(Task task) {
				return task.over;
			}

		};

		private final @Nullable String key;

		private final int number;

		private boolean over;

		private boolean ran;

		private boolean queued;

		Task(@Nullable String key, int number) {
			this.key = key;
			this.number = number;
		}

		@Override
		public String toString() {
			return this.key + "-" + this.number;
		}

	}

	/**
	 * Two partitions that come and go. A task ends while it runs, fails and is tried
	 * again, is cut off and tried again beside itself, or ends while it waits for its
	 * next attempt.
	 */
	private static final class Model {

		private final SplittableRandom random;

		private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

		private final Map<Integer, Task> running = new HashMap<>();

		private final Set<Task> failed = new HashSet<>();

		private final Dispatcher<Task> dispatcher;

		private final List<TaskQueue<Task>> queues = new ArrayList<>();

		private final List<List<Task>> tasks = new ArrayList<>();

		private final Map<String, Integer> last = new HashMap<>();

		private int number;

		Model(SplittableRandom random) {
			this.random = random;
			this.dispatcher = new Dispatcher<>(1 + random.nextInt(4), 0, this.workers::add, this::run, () -> {
			}, Task.ORDER);
			for (int partition = 0; partition < 2; partition++) {
				this.queues.add(this.dispatcher.open(0));
				this.tasks.add(new ArrayList<>());
			}
		}

		private boolean run(Task task, int slot) {
			if (task.over) {
				// It was over while it waited for a slot: nothing is begun.
				return true;
			}
			if (task.key != null) {
				assertThat(this.running.values()).as("beside %s", task)
					.allMatch((other) -> other == task || !task.key.equals(other.key));
				if (!task.ran) {
					assertThat(this.last.getOrDefault(task.key, -1)).as("before %s", task).isLessThan(task.number);
					this.last.put(task.key, task.number);
				}
			}
			task.ran = true;
			task.queued = false;
			this.failed.remove(task);
			if (this.random.nextInt(4) == 0) {
				end(task);
				return true;
			}
			this.running.put(slot, task);
			return false;
		}

		private void end(Task task) {
			task.over = true;
			this.tasks.forEach((partition) -> partition.remove(task));
		}

		void step() {
			int partition = this.random.nextInt(2);
			switch (this.random.nextInt(13)) {
				case 0, 1, 2 -> {
					String key = (this.random.nextInt(5) == 0) ? null : partition + ":" + this.random.nextInt(3);
					Task task = new Task(key, this.number++);
					this.tasks.get(partition).add(task);
					this.dispatcher.submit(this.queues.get(partition), task);
				}
				case 3, 4, 5 -> work();
				case 6, 7, 8 -> release(true);
				case 9 -> release(false);
				case 10 -> retry();
				case 11 -> cutOff();
				default -> bounce(partition);
			}
		}

		private void work() {
			Runnable worker = this.workers.poll();
			if (worker != null) {
				worker.run();
			}
		}

		/** A run returns: its task is over, or failed and waits for its next attempt. */
		private void release(boolean over) {
			if (this.running.isEmpty()) {
				return;
			}
			List<Integer> slots = List.copyOf(this.running.keySet());
			int slot = slots.get(this.random.nextInt(slots.size()));
			Task task = Objects.requireNonNull(this.running.remove(slot));
			if (!task.over && over && !task.queued) {
				end(task);
			}
			else if (!task.over && !task.queued && !this.running.containsValue(task)) {
				this.failed.add(task);
			}
			this.dispatcher.release(slot);
		}

		private void retry() {
			List<Task> waiting = this.failed.stream().filter((task) -> !task.over).toList();
			if (!waiting.isEmpty()) {
				Task task = waiting.get(this.random.nextInt(waiting.size()));
				this.failed.remove(task);
				if (this.random.nextInt(3) == 0) {
					end(task);
					this.queues.get(0).ended(task);
				}
				else {
					submitAgain(task);
				}
			}
		}

		/** An attempt is cut off, and the next begins while it keeps its slot. */
		private void cutOff() {
			List<Task> candidates = this.running.values()
				.stream()
				.filter((task) -> !task.over && !task.queued)
				.toList();
			if (!candidates.isEmpty()) {
				submitAgain(candidates.get(this.random.nextInt(candidates.size())));
			}
		}

		private void submitAgain(Task task) {
			task.queued = true;
			this.dispatcher.submit(this.queues.get(this.tasks.get(0).contains(task) ? 0 : 1), task);
		}

		/** What is not over runs again, in order, from the first on. */
		private void bounce(int partition) {
			if (this.random.nextInt(10) != 0) {
				return;
			}
			TaskQueue<Task> old = this.queues.get(partition);
			this.dispatcher.close(old);
			List<Task> again = new ArrayList<>();
			for (Task task : List.copyOf(this.tasks.get(partition))) {
				again.add(new Task(task.key, task.number));
				this.failed.remove(task);
				task.over = true;
				if (!this.running.containsValue(task)) {
					old.ended(task);
				}
			}
			this.last.keySet().removeIf((key) -> key.startsWith(partition + ":"));
			this.tasks.set(partition, again);
			this.queues.set(partition, this.dispatcher.open(0));
			this.dispatcher.submit(this.queues.get(partition), again);
		}

		/** Nothing is left behind, and no key is remembered. */
		void finish() {
			for (int round = 0; round < 10_000 && this.tasks.stream().anyMatch((left) -> !left.isEmpty()); round++) {
				work();
				release(true);
				retry();
			}
			while (!this.running.isEmpty()) {
				release(true);
			}
			assertThat(this.tasks).allMatch(List::isEmpty);
			assertThat(this.dispatcher.waitingForTurn()).isZero();
			assertThat(this.dispatcher.keysInTurn()).isZero();
		}

	}

}
