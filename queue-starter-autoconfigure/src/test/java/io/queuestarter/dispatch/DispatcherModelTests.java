package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the dispatcher step by step, in one thread, with lists of tasks: which task
 * runs next, how many wait, who occupies a slot, and when somebody is told of room.
 */
class DispatcherModelTests {

	private static final int STEPS = Effort.of(300_000, 30_000_000);

	@Test
	void agreesWithANaiveModel() {
		SplittableRandom random = Seeds.random("DispatcherModelTests");
		int step = 0;
		while (step < STEPS) {
			Model model = new Model(random);
			int end = Math.min(STEPS, step + 2_000);
			for (; step < end; step++) {
				model.step();
			}
			model.finish();
		}
	}

	private static final class Model {

		private final SplittableRandom random;

		private final int slots;

		private final int lowMark;

		private final Dispatcher<Integer> dispatcher;

		private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

		/** Waiting tasks of open queues; those with tasks stand in {@link #turn}. */
		private final Map<TaskQueue<Integer>, ArrayDeque<Integer>> queues = new HashMap<>();

		private final List<TaskQueue<Integer>> open = new ArrayList<>();

		private final ArrayDeque<TaskQueue<Integer>> turn = new ArrayDeque<>();

		/** Detached tasks by slot. */
		private final TreeMap<Integer, Integer> running = new TreeMap<>();

		private @Nullable TaskQueue<Integer> aside;

		private boolean stopped;

		private boolean refusing;

		private int told;

		private int tasks;

		Model(SplittableRandom random) {
			this.random = random;
			this.slots = 1 + random.nextInt(4);
			this.lowMark = random.nextInt(6);
			this.dispatcher = new Dispatcher<>(this.slots, this.lowMark, this::startWorker, this::run,
					() -> this.told++);
			this.aside = this.dispatcher.openAside(Integer.MAX_VALUE);
			add(this.aside);
		}

		private void add(TaskQueue<Integer> queue) {
			this.queues.put(queue, new ArrayDeque<>());
			this.open.add(queue);
		}

		private void startWorker(Runnable worker) {
			if (this.refusing) {
				throw new RejectedExecutionException();
			}
			this.workers.add(worker);
			assertThat(this.workers.size()).isLessThanOrEqualTo(this.slots);
		}

		void step() {
			switch (this.random.nextInt(12)) {
				case 0, 1, 2 -> submit();
				case 3, 4, 5, 6 -> work();
				case 7, 8 -> release();
				case 9 -> openOrClose();
				case 10 -> this.refusing = this.random.nextInt(4) == 0;
				default -> stopOrStart();
			}
			check();
		}

		private void submit() {
			TaskQueue<Integer> queue = any();
			List<Integer> batch = new ArrayList<>();
			for (int count = this.random.nextInt(4); count > 0; count--) {
				batch.add(this.tasks++);
			}
			ArrayDeque<Integer> waiting = this.queues.get(queue);
			if (waiting != null && !batch.isEmpty()) {
				if (waiting.isEmpty()) {
					this.turn.add(queue);
				}
				waiting.addAll(batch);
			}
			tolerate(() -> this.dispatcher.submit(queue, batch));
		}

		/** A worker runs until it finds no task. */
		private void work() {
			Runnable worker = this.workers.poll();
			if (worker != null) {
				worker.run();
				assertThat(this.stopped || this.turn.isEmpty() || this.running.size() == this.slots)
					.as("worker ends with work left")
					.isTrue();
			}
		}

		private boolean run(int task, int slot) {
			assertThat(this.stopped).isFalse();
			TaskQueue<Integer> queue = this.turn.remove();
			ArrayDeque<Integer> waiting = Objects.requireNonNull(this.queues.get(queue));
			assertThat(task).as("task in turn").isEqualTo(waiting.remove());
			if (!waiting.isEmpty()) {
				this.turn.add(queue);
			}
			if (waiting.size() == queue.lowMark || waiting() == this.lowMark) {
				assertThat(this.told).as("times told of room").isOne();
			}
			this.told = 0;
			assertThat(this.running).as("slot is free").doesNotContainKey(slot);
			if (this.random.nextBoolean()) {
				this.running.put(slot, task);
				return false;
			}
			return true;
		}

		private void release() {
			if (!this.running.isEmpty()) {
				List<Integer> occupied = List.copyOf(this.running.keySet());
				int slot = occupied.get(this.random.nextInt(occupied.size()));
				this.running.remove(slot);
				this.dispatcher.release(slot);
			}
		}

		private void openOrClose() {
			if (this.open.size() < 5 && this.random.nextBoolean()) {
				add(this.dispatcher.open(this.random.nextInt(4)));
				return;
			}
			TaskQueue<Integer> queue = any();
			if (queue == this.aside) {
				return;
			}
			this.told = 0;
			int before = waiting();
			this.open.remove(queue);
			this.queues.remove(queue);
			this.turn.remove(queue);
			this.dispatcher.close(queue);
			assertThat(this.told > 0).as("told of room").isEqualTo(before > this.lowMark && waiting() <= this.lowMark);
			this.told = 0;
			// Comes to nothing.
			this.dispatcher.submit(queue, -1);
		}

		private void stopOrStart() {
			this.stopped = !this.stopped && this.random.nextInt(3) == 0;
			if (this.stopped) {
				this.dispatcher.stop();
			}
			else {
				tolerate(this.dispatcher::start);
			}
		}

		private void tolerate(Runnable action) {
			try {
				action.run();
			}
			catch (RejectedExecutionException ex) {
				assertThat(this.refusing).isTrue();
			}
		}

		private TaskQueue<Integer> any() {
			return this.open.get(this.random.nextInt(this.open.size()));
		}

		private int waiting() {
			int count = 0;
			for (TaskQueue<Integer> queue : this.open) {
				count += (queue != this.aside) ? Objects.requireNonNull(this.queues.get(queue)).size() : 0;
			}
			return count;
		}

		private void check() {
			assertThat(this.dispatcher.waiting()).isEqualTo(waiting());
			assertThat(this.dispatcher.inFlight()).isEqualTo(this.running.size());
			TaskQueue<Integer> queue = any();
			assertThat(this.dispatcher.waiting(queue)).isEqualTo(Objects.requireNonNull(this.queues.get(queue)).size());
			List<Integer> visited = new ArrayList<>();
			this.dispatcher.forEachInFlight(visited::add);
			assertThat(visited).isEqualTo(List.copyOf(this.running.values()));
		}

		/** Nothing is left behind once there are threads again. */
		void finish() {
			this.refusing = false;
			this.stopped = false;
			this.dispatcher.start();
			while (!this.turn.isEmpty() || !this.running.isEmpty()) {
				assertThat(this.workers.isEmpty() && this.running.isEmpty()).as("stuck").isFalse();
				work();
				release();
			}
			while (!this.workers.isEmpty()) {
				work();
			}
			check();
		}

	}

}
