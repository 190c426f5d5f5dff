package io.queuestarter.handler;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

import io.queuestarter.QueueException;
import io.queuestarter.context.CurrentContext;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.log.LogContext;
import io.queuestarter.log.LogLimit;

/**
 * What handlers of one queue find on their thread: an MDC, an observation, and the
 * headers for what they send. <em>Thread-safe.</em>
 */
public final class Surroundings {

	/**
	 * Nothing but the headers.
	 */
	public static final Surroundings NONE = new Surroundings("", "", false, null);

	private static final Logger LOGGER = LoggerFactory.getLogger(Surroundings.class);

	private final String queue;

	private final String group;

	private final boolean mdc;

	private final @Nullable AttemptObserver observer;

	private final LogLimit problems = new LogLimit(System::nanoTime);

	/**
	 * Creates surroundings.
	 * @param queue id of the queue
	 * @param group its consumer group
	 * @param mdc whether the MDC tells which record is handled
	 * @param observer who observes attempts, or {@code null}
	 */
	public Surroundings(String queue, String group, boolean mdc, @Nullable AttemptObserver observer) {
		this.queue = queue;
		this.group = group;
		this.mdc = mdc;
		this.observer = observer;
	}

	/**
	 * The calling thread begins to work for an attempt.
	 * @return to be closed by the same thread, after the answer was passed on
	 */
	HandlerScope begin(Attempt attempt) {
		HandlerScope scope = new HandlerScope(this, attempt, observe(attempt));
		attempt.carry(scope);
		try {
			scope.open();
		}
		catch (Throwable ex) {
			scope.close();
			throw ex;
		}
		return scope;
	}

	/**
	 * The calling thread begins to work for several attempts together. Their records are
	 * of one lane; what the handler sends carries the headers of the first.
	 * @return to be run by the same thread, after the answer was passed on; throws
	 * nothing
	 */
	Runnable begin(List<Attempt> attempts) {
		if (attempts.isEmpty()) {
			return () -> {
			};
		}
		Attempt first = attempts.get(0);
		LogContext before = LogContext.current();
		Runnable end = () -> {
			CurrentContext.set(null);
			before.set();
		};
		try {
			fill(first);
			if (first.delivery().context().isTold()) {
				CurrentContext.set(first);
			}
			return end;
		}
		catch (Throwable ex) {
			end.run();
			throw ex;
		}
	}

	private void fill(Attempt first) {
		if (!this.mdc) {
			return;
		}
		try {
			MDC.put("queue", this.queue);
			MDC.put("lane", first.lane());
		}
		catch (Throwable ex) {
			incomplete(first, ex);
		}
	}

	/**
	 * The MDC is not what it should be. That keeps no record from being handled, unless
	 * memory has ended.
	 */
	void incomplete(Attempt attempt, Throwable error) {
		if (Failures.isOutOfMemory(error)) {
			throw new QueueException("The MDC failed", error);
		}
		this.problems.warn(LOGGER, "The MDC of {} is not complete; it is handled all the same", attempt, error);
	}

	/** Conventions, predicates and handlers of observations are user code. */
	private @Nullable ObservedAttempt observe(Attempt attempt) {
		if (this.observer == null) {
			return null;
		}
		try {
			AttemptObserver.Observed observed = this.observer.begin(this.queue, this.group, attempt);
			return (observed != null) ? new ObservedAttempt(observed, (error) -> failed(attempt, error)) : null;
		}
		catch (Throwable ex) {
			if (Failures.isOutOfMemory(ex)) {
				throw ex;
			}
			failed(attempt, ex);
			return null;
		}
	}

	private void failed(Attempt attempt, Throwable error) {
		this.problems.warn(LOGGER, "{} could not be observed; it is handled all the same", attempt, error);
	}

	String queue() {
		return this.queue;
	}

	boolean hasMdc() {
		return this.mdc;
	}

}
