package io.queuestarter.delivery;

import org.jspecify.annotations.Nullable;

/**
 * What goes along with one attempt beside its record. <em>Thread-safe.</em>
 */
public interface AttemptScope {

	/**
	 * Nothing.
	 */
	AttemptScope NONE = new AttemptScope() {

		@Override
		public void run(Runnable task) {
			task.run();
		}

		@Override
		public void concluded(AttemptOutcome outcome, @Nullable Throwable error) {
		}

	};

	/**
	 * Runs a task whose log lines are about the attempt. Calls no user code of its own.
	 * @param task the task
	 */
	void run(Runnable task);

	/**
	 * Told what became of the attempt. Never blocks and throws nothing; what is told
	 * first counts.
	 * @param outcome what became of it
	 * @param error what it failed with, or {@code null}
	 */
	void concluded(AttemptOutcome outcome, @Nullable Throwable error);

}
