package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Tasks with the same key take turns: one of them has its turn until it is over and
 * occupies no slot; the others wait in the order in which they came. A key is known only
 * while one of its tasks has its turn. All state is guarded by the lock of the
 * {@link Dispatcher}.
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
		if (turn.task != task) {
			turn.followers().add(new Follower<>(queue, task));
			queue.following++;
			this.waiting++;
			return false;
		}
		return true;
	}

	/** A task begins to occupy a slot. */
	void taken(T task) {
		Turn<T> turn = turnOf(task);
		if (turn != null) {
			turn.slots++;
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
		return passOn(turn);
	}

	/**
	 * A task may be over.
	 * @return who has its turn now, or null if it is nobody new
	 */
	@Nullable Follower<T> ended(T task) {
		Turn<T> turn = turnOf(task);
		return (turn != null) ? passOn(turn) : null;
	}

	private @Nullable Turn<T> turnOf(T task) {
		Object key = this.order.keyOf(task);
		Turn<T> turn = (key != null) ? this.turns.get(key) : null;
		return (turn != null && turn.task == task) ? turn : null;
	}

	/** Followers of closed queues are not run any more. */
	private @Nullable Follower<T> passOn(Turn<T> turn) {
		if (turn.slots > 0 || !this.order.isOver(turn.task)) {
			return null;
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

	private @Nullable Follower<T> poll(Turn<T> turn) {
		Follower<T> next = (turn.followers != null) ? turn.followers.poll() : null;
		if (next != null && !next.queue().closed) {
			next.queue().following--;
			this.waiting--;
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

	/** The turn of one key. */
	private static final class Turn<T> {

		/** Who has it. */
		private T task;

		/** Slots that it occupies: an attempt that was cut off may keep its own. */
		private int slots;

		private @Nullable ArrayDeque<Follower<T>> followers;

		Turn(T task) {
			this.task = task;
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
