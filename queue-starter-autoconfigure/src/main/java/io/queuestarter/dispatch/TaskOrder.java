package io.queuestarter.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * Tells a {@link Dispatcher} which tasks must not run at one time. Called under its lock:
 * must be quick, and call nothing of it.
 *
 * @param <T> type of the tasks
 */
public interface TaskOrder<T> {

	/**
	 * What a task has in common with those that it must not run beside.
	 * @param task the task
	 * @return an object that equals that of the others and stays the same, or
	 * {@code null} if the task waits for none
	 */
	@Nullable Object keyOf(T task);

	/**
	 * Whether a task will not be submitted again: the next of its key may run once it
	 * occupies no slot.
	 * @param task a task that was submitted
	 * @return {@code true} if it is over for good
	 */
	boolean isOver(T task);

}
