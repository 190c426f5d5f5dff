package io.queuestarter.dispatch;

import java.util.Collection;
import java.util.List;

/**
 * Does the work of several tasks together on a worker thread.
 *
 * @param <T> type of the tasks
 */
@FunctionalInterface
public interface BatchRunner<T> {

	/**
	 * Runs tasks. Must not throw.
	 * @param batch the tasks, at least one; those of a key in the order in which they
	 * came
	 * @return those whose run has ended and whose slot is free; the others go on without
	 * this thread, and each keeps its slot until {@link Dispatcher#release(int)}
	 */
	Collection<Taken<T>> run(List<Taken<T>> batch);

}
