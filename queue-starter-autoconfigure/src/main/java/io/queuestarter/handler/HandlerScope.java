package io.queuestarter.handler;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import io.queuestarter.context.CurrentContext;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptOutcome;
import io.queuestarter.delivery.AttemptScope;
import io.queuestarter.log.LogContext;

/**
 * What the worker's thread carries while it works for one attempt, and what other threads
 * log of it. <em>Thread-safe</em>, except that the worker alone opens and closes it.
 */
final class HandlerScope implements AttemptScope {

	private final Surroundings surroundings;

	private final Attempt attempt;

	private final @Nullable ObservedAttempt observed;

	/** Worker thread only: what its thread had before. */
	private LogContext before = LogContext.EMPTY;

	/** Volatile; with what observers have added, set if there are any. */
	private volatile @Nullable LogContext context;

	HandlerScope(Surroundings surroundings, Attempt attempt, @Nullable ObservedAttempt observed) {
		this.surroundings = surroundings;
		this.attempt = attempt;
		this.observed = observed;
	}

	/**
	 * To be closed also if it throws, as it does if memory ends: nothing has begun yet.
	 */
	void open() {
		this.before = LogContext.current();
		try {
			fill();
		}
		catch (Throwable ex) {
			this.surroundings.incomplete(this.attempt, ex);
		}
		if (this.attempt.delivery().context().isTold()) {
			CurrentContext.set(this.attempt);
		}
		if (this.observed != null) {
			this.observed.enter();
			this.context = LogContext.current();
		}
	}

	private void fill() {
		if (!this.surroundings.hasMdc()) {
			return;
		}
		MDC.put("queue", this.surroundings.queue());
		MDC.put("topic", this.attempt.record().topic());
		MDC.put("partition", Integer.toString(this.attempt.record().partition()));
		MDC.put("offset", Long.toString(this.attempt.record().offset()));
		MDC.put("attempt", Integer.toString(this.attempt.attempt()));
		MDC.put("lane", this.attempt.lane());
		String zone = this.attempt.zone();
		if (zone != null) {
			MDC.put("zone", zone);
		}
	}

	/**
	 * Takes everything back, also what the handler has left behind in the MDC. Throws
	 * nothing: the attempt is to be ended.
	 */
	void close() {
		if (this.attempt.delivery().context().isTold()) {
			CurrentContext.set(null);
		}
		if (this.observed != null) {
			this.observed.leave();
		}
		this.before.set();
	}

	@Override
	public void run(Runnable task) {
		LogContext own = this.context;
		if (own != null) {
			own.run(task);
		}
		else {
			LogContext.run(this::fill, task);
		}
	}

	@Override
	public void concluded(AttemptOutcome outcome, @Nullable Throwable error) {
		if (this.observed != null) {
			this.observed.concluded(outcome, error);
		}
	}

}
