package io.queuestarter.handler;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptOutcome;

/**
 * Observes attempts, each from before its handler is called until its outcome is known
 * and the handler has returned. <em>Thread-safe.</em>
 */
public interface AttemptObserver {

	/**
	 * Told of a listener before it is called the first time.
	 * @param listener who calls the user's method
	 */
	default void prepare(Object listener) {
	}

	/**
	 * Begins to observe an attempt.
	 * @param queue id of the queue
	 * @param group its consumer group
	 * @param attempt the attempt
	 * @return the observation, or {@code null} if nobody is interested
	 */
	@Nullable Observed begin(String queue, String group, Attempt attempt);

	/**
	 * Observation of one attempt. {@link #enter()} and {@link #leave()} are called by the
	 * worker, and {@link #end} once, after both.
	 */
	interface Observed {

		/** The calling thread calls the handler. */
		void enter();

		/** The handler has returned. */
		void leave();

		/**
		 * The attempt is over. Called by any thread that user code may hold up.
		 * @param outcome what became of it
		 * @param error what it failed with, or {@code null}
		 */
		void end(AttemptOutcome outcome, @Nullable Throwable error);

	}

}
