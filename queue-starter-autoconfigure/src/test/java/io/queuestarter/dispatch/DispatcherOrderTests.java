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

	private final List<KeyedTask> started = new ArrayList<>();

	private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

	private final Map<Integer, KeyedTask> running = new HashMap<>();

	private final Dispatcher<KeyedTask> dispatcher = dispatcher(3);

	private final TaskQueue<KeyedTask> queue = this.dispatcher.open(0);

	@Test
	void nextOfAKeyRunsWhenTheOneInFrontIsOverAndItsSlotFree() {
		KeyedTask first = submit("a", 0);
		KeyedTask second = submit("a", 1);
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
		KeyedTask first = submit("a", 0);
		KeyedTask second = submit("a", 1);
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
		KeyedTask first = submit("a", 0);
		KeyedTask second = submit("a", 1);
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
		KeyedTask first = submit("a", 0);
		KeyedTask second = submit("a", 1);
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
		KeyedTask first = submit("a", 0);
		submit("a", 1);
		work();
		this.dispatcher.close(this.queue);
		first.over = true;
		TaskQueue<KeyedTask> later = this.dispatcher.open(0);
		KeyedTask again = new KeyedTask("a", 0);
		this.dispatcher.submit(later, again);
		work();
		assertThat(this.started).containsExactly(first);

		release(first);
		work();

		assertThat(this.started).containsExactly(first, again);
	}

	@Test
	void attemptThatWasCutOffKeepsTheTurnUntilItsSlotIsFree() {
		KeyedTask first = submit("a", 0);
		KeyedTask second = submit("a", 1);
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

	private Dispatcher<KeyedTask> dispatcher(int slots) {
		return new Dispatcher<>(slots, 0, this.workers::add, (task, slot) -> {
			this.started.add(task);
			this.running.put(slot, task);
			return false;
		}, () -> {
		}, KeyedTask.ORDER);
	}

	private KeyedTask submit(@Nullable String key, int number) {
		KeyedTask task = new KeyedTask(key, number);
		this.dispatcher.submit(this.queue, task);
		return task;
	}

	private void work() {
		while (!this.workers.isEmpty()) {
			this.workers.remove().run();
		}
	}

	private int slotOf(KeyedTask task) {
		return this.running.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() == task)
			.findFirst()
			.orElseThrow()
			.getKey();
	}

	private void release(KeyedTask task) {
		release(slotOf(task));
	}

	private void release(int slot) {
		this.running.remove(slot);
		this.dispatcher.release(slot);
	}

	/**
	 * Two partitions that come and go. A task ends while it runs, fails and is tried
	 * again, is cut off and tried again beside itself, or ends while it waits for its
	 * next attempt.
	 */
	private static final class Model {

		private final SplittableRandom random;

		private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

		private final Map<Integer, KeyedTask> running = new HashMap<>();

		private final Set<KeyedTask> failed = new HashSet<>();

		/** Have run once. */
		private final Set<KeyedTask> ran = new HashSet<>();

		/** Were given back and wait for a slot. */
		private final Set<KeyedTask> queued = new HashSet<>();

		private final Dispatcher<KeyedTask> dispatcher;

		private final List<TaskQueue<KeyedTask>> queues = new ArrayList<>();

		private final List<List<KeyedTask>> tasks = new ArrayList<>();

		private final Map<String, Integer> last = new HashMap<>();

		private int number;

		Model(SplittableRandom random) {
			this.random = random;
			this.dispatcher = new Dispatcher<>(1 + random.nextInt(4), 0, this.workers::add, this::run, () -> {
			}, KeyedTask.ORDER);
			for (int partition = 0; partition < 2; partition++) {
				this.queues.add(this.dispatcher.open(0));
				this.tasks.add(new ArrayList<>());
			}
		}

		private boolean run(KeyedTask task, int slot) {
			if (task.over) {
				// It was over while it waited for a slot: nothing is begun.
				return true;
			}
			if (task.key != null) {
				assertThat(this.running.values()).as("beside %s", task)
					.allMatch((other) -> other == task || !task.key.equals(other.key));
				if (this.ran.add(task)) {
					assertThat(this.last.getOrDefault(task.key, -1)).as("before %s", task).isLessThan(task.number);
					this.last.put(task.key, task.number);
				}
			}
			this.queued.remove(task);
			this.failed.remove(task);
			if (this.random.nextInt(4) == 0) {
				end(task);
				return true;
			}
			this.running.put(slot, task);
			return false;
		}

		private void end(KeyedTask task) {
			task.over = true;
			this.tasks.forEach((partition) -> partition.remove(task));
		}

		void step() {
			int partition = this.random.nextInt(2);
			switch (this.random.nextInt(13)) {
				case 0, 1, 2 -> {
					String key = (this.random.nextInt(5) == 0) ? null : partition + ":" + this.random.nextInt(3);
					KeyedTask task = new KeyedTask(key, this.number++);
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
			KeyedTask task = Objects.requireNonNull(this.running.remove(slot));
			if (!task.over && over && !this.queued.contains(task)) {
				end(task);
			}
			else if (!task.over && !this.queued.contains(task) && !this.running.containsValue(task)) {
				this.failed.add(task);
			}
			this.dispatcher.release(slot);
		}

		private void retry() {
			List<KeyedTask> waiting = this.failed.stream().filter((task) -> !task.over).toList();
			if (!waiting.isEmpty()) {
				KeyedTask task = waiting.get(this.random.nextInt(waiting.size()));
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
			List<KeyedTask> candidates = this.running.values()
				.stream()
				.filter((task) -> !task.over && !this.queued.contains(task))
				.toList();
			if (!candidates.isEmpty()) {
				submitAgain(candidates.get(this.random.nextInt(candidates.size())));
			}
		}

		private void submitAgain(KeyedTask task) {
			this.queued.add(task);
			this.dispatcher.submit(this.queues.get(this.tasks.get(0).contains(task) ? 0 : 1), task);
		}

		/** What is not over runs again, in order, from the first on. */
		private void bounce(int partition) {
			if (this.random.nextInt(10) != 0) {
				return;
			}
			TaskQueue<KeyedTask> old = this.queues.get(partition);
			this.dispatcher.close(old);
			List<KeyedTask> again = new ArrayList<>();
			for (KeyedTask task : List.copyOf(this.tasks.get(partition))) {
				again.add(new KeyedTask(task.key, task.number));
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
