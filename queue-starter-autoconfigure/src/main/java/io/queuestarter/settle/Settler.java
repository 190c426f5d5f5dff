package io.queuestarter.settle;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueRejectException;
import io.queuestarter.QueueRetryException;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.DeadLetters;
import io.queuestarter.deadletter.Failure;
import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Attempt.Progress;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.handler.Failures;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;

/**
 * Takes the answers of all attempts of one queue and carries out what follows from the
 * first answer of each. <em>Thread-safe; never blocks.</em>
 */
public final class Settler implements Answers {

	private static final Logger LOGGER = LoggerFactory.getLogger(Settler.class);

	private static final Duration MAX_DELAY = Duration.ofDays(1);

	private final int maxAttempts;

	private final Backoff backoff;

	private final @Nullable DeadLetters deadLetters;

	private final Dispatcher<Delivery> dispatcher;

	private final Retries retries;

	private final Outcomes outcomes;

	private final Consumer<Throwable> fatal;

	/**
	 * Creates a settler.
	 * @param maxAttempts attempts before a record is dead-lettered
	 * @param backoff delay between attempts
	 * @param deadLetters where failed records go, or {@code null} to retry them for ever
	 * @param dispatcher whose slots the attempts occupy
	 * @param retries where records wait for their next attempt
	 * @param outcomes counts what happened
	 * @param fatal told when the process ran out of memory, or an answer could not be
	 * carried out: nothing can be concluded about the record then
	 */
	public Settler(int maxAttempts, Backoff backoff, @Nullable DeadLetters deadLetters, Dispatcher<Delivery> dispatcher,
			Retries retries, Outcomes outcomes, Consumer<Throwable> fatal) {
		this.maxAttempts = maxAttempts;
		this.backoff = backoff;
		this.deadLetters = deadLetters;
		this.dispatcher = dispatcher;
		this.retries = retries;
		this.outcomes = outcomes;
		this.fatal = fatal;
	}

	@Override
	public void handled(Attempt attempt) {
		boolean first = conclude(attempt, () -> {
			if (attempt.delivery().settle(DeliveryState.IN_FLIGHT)) {
				this.outcomes.acknowledged();
			}
		});
		if (!first && attempt.isCancelled()) {
			this.outcomes.late();
		}
	}

	@Override
	public void failed(Attempt attempt, Throwable error) {
		if (Failures.isOutOfMemory(error)) {
			conclude(attempt, () -> {
				attempt.delivery().letGo();
				this.fatal.accept(error);
			});
			return;
		}
		Throwable cause = Failures.unwrap(error);
		conclude(attempt, () -> {
			attempt.delivery().failedWith(cause);
			if (cause instanceof QueueRejectException) {
				park(attempt, DeadLetterReason.NACK, cause);
			}
			else if (Failures.isUndecodable(cause)) {
				if (Failures.isTransient(cause)) {
					retryOrPark(attempt, this.backoff.after(attempt.attempt()), DeadLetterReason.UNDECODABLE, cause);
				}
				else {
					park(attempt, DeadLetterReason.UNDECODABLE, cause);
				}
			}
			else if (!attempt.isCalled() && Failures.isUnprocessable(cause)) {
				park(attempt, DeadLetterReason.UNPROCESSABLE, cause);
			}
			else {
				Duration delay = (cause instanceof QueueRetryException retry) ? retry.getDelay()
						: this.backoff.after(attempt.attempt());
				retryOrPark(attempt, delay, DeadLetterReason.RETRIES_EXHAUSTED, cause);
			}
		});
	}

	@Override
	public void retryAfter(Attempt attempt, Duration delay) {
		QueueRetryException cause = new QueueRetryException(delay);
		conclude(attempt, () -> {
			attempt.delivery().failedWith(cause);
			retryOrPark(attempt, delay, DeadLetterReason.RETRIES_EXHAUSTED, cause);
		});
	}

	@Override
	public void rejected(Attempt attempt, String reason) {
		QueueRejectException cause = new QueueRejectException(reason);
		conclude(attempt, () -> {
			attempt.delivery().failedWith(cause);
			park(attempt, DeadLetterReason.NACK, cause);
		});
	}

	@Override
	public void abandoned(Attempt attempt) {
		conclude(attempt, this.outcomes::abandoned);
	}

	/**
	 * Times out every attempt in flight whose deadline has passed, and cancels it.
	 * @param time where the time is read
	 */
	public void timeOutOverdue(TimeSource time) {
		long nowNanos = time.nanoTime();
		this.dispatcher.forEachInFlight((delivery) -> {
			Attempt attempt = delivery.attempt();
			if (attempt != null && attempt.isOverdue(nowNanos)) {
				TimeoutException cause = new TimeoutException("No answer before " + attempt.deadline());
				if (conclude(attempt, () -> {
					this.outcomes.timedOut();
					delivery.failedWith(cause);
					retryOrPark(attempt, this.backoff.after(attempt.attempt()), DeadLetterReason.TIMEOUT, cause);
				})) {
					attempt.cancel();
				}
			}
		});
	}

	/** Carries out the first answer; a detached attempt's slot is free afterwards. */
	private boolean conclude(Attempt attempt, Runnable consequence) {
		Progress before = attempt.claim();
		if (before == Progress.ANSWERED) {
			return false;
		}
		try {
			consequence.run();
		}
		catch (Throwable ex) {
			// Whoever should hold the record now may not.
			attempt.delivery().letGo();
			this.fatal.accept(ex);
			throw ex;
		}
		finally {
			if (before == Progress.DETACHED) {
				this.dispatcher.release(attempt.slot());
			}
		}
		return true;
	}

	private void retryOrPark(Attempt attempt, Duration delay, DeadLetterReason reason, Throwable cause) {
		if (attempt.attempt() >= this.maxAttempts && this.deadLetters != null) {
			park(attempt, reason, cause);
		}
		else {
			retry(attempt, delay, cause);
		}
	}

	private void retry(Attempt attempt, Duration wanted, Throwable cause) {
		Duration delay = (wanted.compareTo(MAX_DELAY) < 0) ? wanted : MAX_DELAY;
		if (attempt.delivery().move(DeliveryState.IN_FLIGHT, DeliveryState.BACKOFF)) {
			this.outcomes.retried();
			this.retries.schedule(attempt.delivery(), delay);
			// Not the exception itself: describing it is user code, which may throw.
			LOGGER.debug("{} failed with {} and is tried again in {}", attempt, cause.getClass().getName(), delay);
		}
	}

	private void park(Attempt attempt, DeadLetterReason reason, Throwable cause) {
		if (this.deadLetters == null) {
			retry(attempt, this.backoff.after(attempt.attempt()), cause);
		}
		else if (attempt.delivery().move(DeliveryState.IN_FLIGHT, DeliveryState.DEAD_LETTERING)) {
			this.deadLetters.publish(attempt.delivery(), new Failure(reason, attempt.attempt(), cause));
		}
	}

}
