package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Tasks with the same key take turns: one of them has its turn until it is over and
 * occupies no slot; the others wait in the order in which they came. A key is known only
 * while one of its tasks has its turn. Tasks that wait may join the one that has its
 * turn, to run together with it as its companions: then they have it, too, and those that
 * are not over afterwards run one after the other before those that wait. All state is
 * guarded by the lock of the {@link Dispatcher}.
 *
 * @param <T> type of the tasks
 */
final class KeyTurns<T> {

	private final TaskOrder<T> order;

	private final Map<Object, Turn<T>> turns = new HashMap<>();

	/** Tasks that wait for their turn. */
	private int waiting;

	KeyTurns(TaskOrder<T> order) {
		this.order = order;
	}

	/** Answers whether a task may be queued now; it waits for its turn otherwise. */
	boolean enters(TaskQueue<T> queue, T task) {
		Object key = this.order.keyOf(task);
		if (key == null) {
			return true;
		}
		Turn<T> turn = this.turns.get(key);
		if (turn == null) {
			this.turns.put(key, new Turn<>(task));
			return true;
		}
		// A task that is tried again still has its turn.
		if (turn.task == task && turn.companionSlots == 0) {
			return true;
		}
		Companion<T> companion = turn.companion(task);
		if (turn.task == task) {
			turn.queue = queue;
		}
		else if (companion != null) {
			companion.queue = queue;
		}
		else {
			turn.followers().add(new Follower<>(queue, task));
		}
		waits(queue);
		return false;
	}

	private void waits(TaskQueue<T> queue) {
		queue.following++;
		this.waiting++;
	}

	private void waitsNoLonger(TaskQueue<T> queue) {
		if (!queue.closed) {
			queue.following--;
			this.waiting--;
		}
	}

	/**
	 * The next of those that wait joins a task that has its turn, if all that have it are
	 * about to run, and none behind others of its kind that are to run again.
	 * @param task a task that occupies a slot and does not run yet
	 * @return who has joined it, or null if nobody may
	 */
	@Nullable Follower<T> join(T task) {
		Turn<T> turn = turnOf(task);
		if (turn == null || turn.followers == null || !turn.isAboutToRun()) {
			return null;
		}
		Follower<T> next = turn.followers.peek();
		while (next != null && next.queue().closed) {
			turn.followers.remove();
			next = turn.followers.peek();
		}
		if (next == null || !next.queue().counted) {
			return null;
		}
		turn.followers.remove();
		waitsNoLonger(next.queue());
		turn.companions().add(new Companion<>(next.task()));
		return next;
	}

	/** A task begins to occupy a slot. */
	void taken(T task) {
		Turn<T> turn = turnOf(task);
		if (turn != null) {
			turn.slots++;
			turn.companionSlots += (turn.task != task) ? 1 : 0;
		}
	}

	/**
	 * A task does not occupy a slot any more.
	 * @return who has its turn now, or null if it is nobody new
	 */
	@Nullable Follower<T> freed(T task) {
		Turn<T> turn = turnOf(task);
		if (turn == null) {
			return null;
		}
		turn.slots--;
		turn.companionSlots -= (turn.task != task) ? 1 : 0;
		return passOn(turn);
	}

	/**
	 * A task may be over.
	 * @return who has its turn now, or null if it is nobody new
	 */
	@Nullable Follower<T> ended(T task) {
		Turn<T> turn = turnOf(task);
		// Others that have the turn wait for this one, not it for them.
		return (turn != null && turn.task == task) ? passOn(turn) : null;
	}

	private @Nullable Turn<T> turnOf(T task) {
		Object key = this.order.keyOf(task);
		Turn<T> turn = (key != null) ? this.turns.get(key) : null;
		return (turn != null && (turn.task == task || turn.companion(task) != null)) ? turn : null;
	}

	/** Followers of closed queues are not run any more. */
	private @Nullable Follower<T> passOn(Turn<T> turn) {
		boolean over = this.order.isOver(turn.task);
		if (over ? turn.slots > 0 : turn.queue == null || turn.companionSlots > 0) {
			return null;
		}
		Companion<T> companion = over ? turn.nextCompanion() : null;
		while (companion != null && over) {
			again(turn.queue, turn.task);
			turn.task = companion.task;
			turn.queue = companion.queue;
			over = this.order.isOver(companion.task);
			companion = over ? turn.nextCompanion() : null;
		}
		TaskQueue<T> queue = turn.queue;
		turn.queue = null;
		Follower<T> again = again(queue, turn.task);
		if (!over) {
			return again;
		}
		Follower<T> next = poll(turn);
		while (next != null && next.queue().closed) {
			next = poll(turn);
		}
		if (next == null) {
			this.turns.remove(this.order.keyOf(turn.task));
			return null;
		}
		turn.task = next.task();
		return next;
	}

	/** A task does not wait any more that was to run again, if it was. */
	private @Nullable Follower<T> again(@Nullable TaskQueue<T> queue, T task) {
		if (queue == null) {
			return null;
		}
		waitsNoLonger(queue);
		return queue.closed ? null : new Follower<>(queue, task);
	}

	private @Nullable Follower<T> poll(Turn<T> turn) {
		Follower<T> next = (turn.followers != null) ? turn.followers.poll() : null;
		if (next != null) {
			waitsNoLonger(next.queue());
		}
		return next;
	}

	/** Tasks of a queue do not wait any more. */
	void closed(TaskQueue<T> queue) {
		this.waiting -= queue.following;
		queue.following = 0;
	}

	/** Keys of which a task has its turn. */
	int keys() {
		return this.turns.size();
	}

	int waiting() {
		return this.waiting;
	}

	/**
	 * A task that waits for its turn.
	 *
	 * @param queue where it goes then
	 * @param task the task
	 * @param <T> type of the task
	 */
	record Follower<T>(TaskQueue<T> queue, T task) {

	}

	/** A task that has its turn behind another. */
	private static final class Companion<T> {

		private final T task;

		/** Where it is to run again, once those in front of it are over. */
		private @Nullable TaskQueue<T> queue;

		Companion(T task) {
			this.task = task;
		}

	}

	/** The turn of one key. */
	private static final class Turn<T> {

		/** Who has it. */
		private T task;

		/** Where it is to run again, once its companions occupy no slot. */
		private @Nullable TaskQueue<T> queue;

		/** Slots occupied: an attempt that was cut off may keep its own. */
		private int slots;

		/** Those of them that others occupy than who has the turn. */
		private int companionSlots;

		/** Who has it, too, in the order of their coming. */
		private @Nullable ArrayDeque<Companion<T>> companions;

		private @Nullable ArrayDeque<Follower<T>> followers;

		Turn(T task) {
			this.task = task;
		}

		/**
		 * Whether all that have it occupy a slot each. Who has it may occupy another one
		 * still, of a run that gave it back, while a companion waits to run again.
		 */
		boolean isAboutToRun() {
			int waiting = (this.companions != null) ? this.companions.size() - this.companionSlots : 0;
			return waiting == 0 && this.slots - this.companionSlots == 1;
		}

		ArrayDeque<Companion<T>> companions() {
			ArrayDeque<Companion<T>> present = this.companions;
			if (present == null) {
				present = new ArrayDeque<>();
				this.companions = present;
			}
			return present;
		}

		@Nullable Companion<T> nextCompanion() {
			return (this.companions != null) ? this.companions.poll() : null;
		}

		@Nullable Companion<T> companion(T task) {
			if (this.companions != null) {
				for (Companion<T> companion : this.companions) {
					if (companion.task == task) {
						return companion;
					}
				}
			}
			return null;
		}

		ArrayDeque<Follower<T>> followers() {
			ArrayDeque<Follower<T>> present = this.followers;
			if (present == null) {
				present = new ArrayDeque<>(2);
				this.followers = present;
			}
			return present;
		}

	}

}
