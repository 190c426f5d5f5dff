package io.queuestarter.dispatch;

import java.util.ArrayDeque;

/**
 * Tasks of one source, usually a partition, that wait for a slot. Sources with waiting
 * tasks take turns. All state is guarded by the lock of the {@link Dispatcher} that
 * opened the queue.
 *
 * @param <T> type of the tasks
 */
public final class TaskQueue<T> {

	private final Dispatcher<T> dispatcher;

	final ArrayDeque<T> tasks = new ArrayDeque<>();

	/** Waiting tasks at which the owner is told that there is room again. */
	final int lowMark;

	/** Whether the queue stands in the dispatcher's ring of queues with work. */
	boolean inTurn;

	boolean closed;

	/** Whether its tasks count as waiting. */
	final boolean counted;

	/** Largest number of slots for its tasks while counted tasks wait. */
	final int share;

	/** Its tasks that wait for their turn. */
	int following;

	/** Its tasks that occupy a slot. */
	int running;

	TaskQueue(Dispatcher<T> dispatcher, int lowMark, boolean counted, int share) {
		this.dispatcher = dispatcher;
		this.lowMark = lowMark;
		this.counted = counted;
		this.share = share;
	}

	/**
	 * Says that a task which was submitted to this queue is over, so that those behind it
	 * may have their turn. Not needed if it is over before its last slot is free.
	 * <em>Thread-safe.</em>
	 * @param task the task
	 */
	public void ended(T task) {
		this.dispatcher.ended(task);
	}

}
