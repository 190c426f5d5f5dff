package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Queues of a {@link Dispatcher} that have waiting tasks, in turn, and how many tasks
 * wait. State is guarded by the lock of the dispatcher, except that {@link #counted()} is
 * read without.
 *
 * @param <T> type of the tasks
 */
final class QueuesInTurn<T> {

	private final ArrayDeque<TaskQueue<T>> turn = new ArrayDeque<>();

	private final int lowMark;

	/** Tasks of all queues that wait. */
	private int waiting;

	/**
	 * Tasks of counted queues that wait. Written under the lock; a reader may be late.
	 */
	private volatile int counted;

	/**
	 * Creates a ring without queues.
	 * @param lowMark number of waiting tasks at which there is room for more
	 */
	QueuesInTurn(int lowMark) {
		this.lowMark = lowMark;
	}

	/** Number of tasks that wait. */
	int waiting() {
		return this.waiting;
	}

	/** Number of tasks of counted queues that wait. Needs no lock. */
	int counted() {
		return this.counted;
	}

	void add(TaskQueue<T> queue, Collection<? extends T> tasks) {
		queue.tasks.addAll(tasks);
		added(queue, tasks.size());
	}

	void add(TaskQueue<T> queue, T task) {
		queue.tasks.add(task);
		added(queue, 1);
	}

	private void added(TaskQueue<T> queue, int tasks) {
		count(queue, tasks);
		if (!queue.inTurn) {
			queue.inTurn = true;
			this.turn.add(queue);
		}
	}

	/** Drops all tasks of a queue. Answers whether there is room for others by that. */
	boolean clear(TaskQueue<T> queue) {
		int before = this.counted;
		count(queue, -queue.tasks.size());
		queue.tasks.clear();
		leaveIfEmpty(queue);
		return before > this.lowMark && this.counted <= this.lowMark;
	}

	/** Drops tasks of a queue. */
	void drop(TaskQueue<T> queue, Predicate<? super T> over) {
		int before = queue.tasks.size();
		queue.tasks.removeIf(over);
		count(queue, queue.tasks.size() - before);
		leaveIfEmpty(queue);
	}

	private void leaveIfEmpty(TaskQueue<T> queue) {
		if (queue.inTurn && queue.tasks.isEmpty()) {
			this.turn.remove(queue);
			queue.inTurn = false;
		}
	}

	/**
	 * The next queue in turn, or null if no task may be taken: while counted tasks wait,
	 * one of their queues stands in the ring and is found.
	 */
	@Nullable TaskQueue<T> next() {
		TaskQueue<T> queue = this.turn.poll();
		while (queue != null && this.counted > 0 && queue.running >= queue.share) {
			this.turn.add(queue);
			queue = this.turn.poll();
		}
		return queue;
	}

	/** The next queue in turn, for who must leave some counted tasks to others. */
	@Nullable TaskQueue<T> nextBeside(int left) {
		if (this.counted > left) {
			return next();
		}
		return (this.waiting > this.counted) ? next(false) : null;
	}

	/** The next queue in turn whose tasks count as waiting. */
	@Nullable TaskQueue<T> nextCounted() {
		return (this.counted > 0) ? next(true) : null;
	}

	/** The next queue in turn of a kind of which there is one. */
	private TaskQueue<T> next(boolean ofCounted) {
		TaskQueue<T> queue = this.turn.remove();
		while (queue.counted != ofCounted) {
			this.turn.add(queue);
			queue = this.turn.remove();
		}
		return queue;
	}

	/** Takes the first task of the queue that was next, whose turn comes again last. */
	T take(TaskQueue<T> queue) {
		T task = queue.tasks.remove();
		if (queue.tasks.isEmpty()) {
			queue.inTurn = false;
		}
		else {
			this.turn.add(queue);
		}
		count(queue, -1);
		return task;
	}

	/** Whether a low mark was reached by the task that was taken last. */
	boolean isRoom(TaskQueue<T> queue) {
		return queue.tasks.size() == queue.lowMark || this.counted == this.lowMark;
	}

	private void count(TaskQueue<T> queue, int change) {
		this.waiting += change;
		if (queue.counted) {
			this.counted += change;
		}
	}

}
