package io.queuestarter.dispatch;

/**
 * Does the work of one task on a worker thread.
 *
 * @param <T> type of the tasks
 */
@FunctionalInterface
public interface TaskRunner<T> {

	/**
	 * Runs a task. Must not throw.
	 * @param task the task
	 * @param slot the slot that this run occupies
	 * @return {@code true} if the run has ended and its slot is free; {@code false} if it
	 * goes on without this thread and keeps its slot until
	 * {@link Dispatcher#release(int)}
	 */
	boolean run(T task, int slot);

}
