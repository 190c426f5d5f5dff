package io.queuestarter.settle;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueRejectException;
import io.queuestarter.QueueRetryException;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.DeadLetters;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.deadletter.Failure;
import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Attempt.Progress;
import io.queuestarter.delivery.AttemptOutcome;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskQueue;
import io.queuestarter.handler.Failures;
import io.queuestarter.log.LogLimit;
import io.queuestarter.outage.Circuit;
import io.queuestarter.retry.Retries;

/**
 * Takes the answers of all attempts of one queue and carries out what follows from the
 * first answer of each. <em>Thread-safe; never blocks.</em>
 */
public final class Settler implements Answers {

	private static final Logger LOGGER = LoggerFactory.getLogger(Settler.class);

	private static final Duration MAX_DELAY = Duration.ofDays(1);

	private static final Duration NOT_STARTED_PAUSE = Duration.ofSeconds(1);

	private final RetryRule rule;

	private final FailureJudge judge;

	private final Routes routes;

	private final DeadLetters deadLetters;

	private final Dispatcher<Delivery> dispatcher;

	private final Retries retries;

	private final Overstays overstays;

	private final Outcomes outcomes;

	private final TimeSource time;

	private final Consumer<Throwable> fatal;

	private final LogLimit timeouts;

	private final LogLimit failedStarts;

	private final LogLimit failedBatches;

	/**
	 * Creates a settler.
	 * @param rule how often failed records are tried again
	 * @param routes where records go that are not tried again here; one that has nowhere
	 * to go is tried again for ever
	 * @param deadLetters brings them there
	 * @param dispatcher whose slots the attempts occupy
	 * @param retries where records wait for their next attempt
	 * @param overstays looks after handlers that ignore that they were cancelled
	 * @param outcomes counts what happened
	 * @param time where the time is read
	 * @param fatal told when the process ran out of memory, or an answer could not be
	 * carried out: nothing can be concluded about the record then
	 */
	public Settler(RetryRule rule, Routes routes, DeadLetters deadLetters, Dispatcher<Delivery> dispatcher,
			Retries retries, Overstays overstays, Outcomes outcomes, TimeSource time, Consumer<Throwable> fatal) {
		this.rule = rule;
		this.judge = new FailureJudge(rule, routes);
		this.routes = routes;
		this.deadLetters = deadLetters;
		this.dispatcher = dispatcher;
		this.retries = retries;
		this.overstays = overstays;
		this.outcomes = outcomes;
		this.time = time;
		this.fatal = fatal;
		this.timeouts = new LogLimit(time::nanoTime);
		this.failedStarts = new LogLimit(time::nanoTime);
		this.failedBatches = new LogLimit(time::nanoTime);
	}

	@Override
	public void entered(Attempt attempt) {
		this.overstays.entered(attempt);
	}

	@Override
	public void left(Attempt attempt) {
		this.overstays.left(attempt);
	}

	@Override
	public void handled(Attempt attempt) {
		boolean first = conclude(attempt, () -> {
			if (attempt.delivery().settle(DeliveryState.IN_FLIGHT)) {
				this.outcomes.acknowledged();
			}
			attempt.circuit().succeeded(attempt.startedNanos(), this.time.nanoTime());
			attempt.concluded(AttemptOutcome.ACKED, null);
		});
		if (!first && attempt.isCutOff()) {
			this.outcomes.late();
		}
	}

	@Override
	public void failed(Attempt attempt, Throwable error) {
		if (Failures.isOutOfMemory(error)) {
			conclude(attempt, () -> {
				attempt.release();
				attempt.concluded(AttemptOutcome.CANCELLED, error);
				stop(attempt.delivery(), error);
			});
			return;
		}
		Throwable cause = Failures.unwrap(error);
		conclude(attempt, () -> {
			DeadLetterReason reason = this.judge.verdict(attempt, cause);
			if (reason != null) {
				verdict(attempt, reason, cause);
			}
			else {
				failure(attempt, delayAfter(attempt, cause), Failures.isUndecodable(cause)
						? DeadLetterReason.UNDECODABLE : DeadLetterReason.RETRIES_EXHAUSTED, cause);
			}
		});
	}

	@Override
	public void failedTogether(Attempt attempt, Throwable error) {
		Throwable cause = Failures.unwrap(error);
		if (conclude(attempt, () -> retryAlone(attempt, cause))) {
			// Not the exception itself: describing it is user code, which may throw.
			this.failedBatches.warn(LOGGER,
					"A batch failed as a whole with {}; its records, {} among them, are tried " + "again one by one",
					cause.getClass().getName(), attempt);
		}
	}

	@Override
	public void notReached(Attempt attempt) {
		conclude(attempt, () -> {
			Delivery delivery = attempt.delivery();
			attempt.release();
			delivery.countNothing();
			if (delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.QUEUED)) {
				this.dispatcher.giveBack(Objects.requireNonNull(delivery.queue()), delivery);
			}
		});
	}

	/**
	 * Which record of a batch is at fault is not known: none has used up an attempt, and
	 * the breaker learns nothing, until each has been tried alone.
	 */
	private void retryAlone(Attempt attempt, Throwable cause) {
		attempt.release();
		attempt.delivery().countNothing();
		retry(attempt, delayAfter(attempt, cause), cause);
	}

	private Duration delayAfter(Attempt attempt, Throwable cause) {
		return (cause instanceof QueueRetryException retry) ? retry.getDelay() : backoffAfter(attempt);
	}

	private Duration backoffAfter(Attempt attempt) {
		return this.rule.backoff().after(attempt.delivery().attemptHere(attempt));
	}

	@Override
	public void retryAfter(Attempt attempt, Duration delay) {
		conclude(attempt,
				() -> failure(attempt, delay, DeadLetterReason.RETRIES_EXHAUSTED, new QueueRetryException(delay)));
	}

	@Override
	public void rejected(Attempt attempt, String reason) {
		conclude(attempt, () -> verdict(attempt, DeadLetterReason.NACK, new QueueRejectException(reason)));
	}

	@Override
	public void refused(Delivery delivery, Circuit circuit) {
		if (delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF)) {
			backOff(delivery, this.rule.backoff().spread(circuit.pause()));
		}
	}

	@Override
	public void notStarted(Delivery delivery, Throwable error) {
		if (Failures.isOutOfMemory(error)) {
			stop(delivery, error);
		}
		else if (delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF)) {
			backOff(delivery, NOT_STARTED_PAUSE);
			this.failedStarts.warn(LOGGER, "No attempt could be opened for {}; it is tried again", delivery, error);
		}
	}

	@Override
	public void abandoned(Attempt attempt) {
		cutOff(attempt, () -> {
			attempt.release();
			this.outcomes.abandoned();
			attempt.concluded(AttemptOutcome.CANCELLED, null);
		});
		this.overstays.add(attempt, this.time.nanoTime());
	}

	/**
	 * Times out every attempt in flight whose deadline has passed, and cancels it.
	 */
	public void timeOutOverdue() {
		long nowNanos = this.time.nanoTime();
		this.dispatcher.forEachInFlight((delivery) -> {
			Attempt attempt = delivery.attempt();
			// An attempt is told before its record is in flight, and nobody may claim it
			// then.
			if (attempt != null && attempt.isOverdue(nowNanos) && delivery.state() == DeliveryState.IN_FLIGHT) {
				TimeoutException cause = new TimeoutException("No answer before " + attempt.deadline());
				if (cutOff(attempt, () -> {
					this.outcomes.timedOut();
					attempt.concluded(AttemptOutcome.TIMED_OUT, cause);
					if (attempt.isShared()) {
						retryAlone(attempt, cause);
					}
					else {
						fail(attempt, delayAfter(attempt, cause), DeadLetterReason.TIMEOUT, cause, true);
					}
				})) {
					attempt.cancel();
					this.overstays.add(attempt, nowNanos);
					attempt.run(() -> this.timeouts.warn(LOGGER, "{} timed out and was cancelled", attempt));
				}
			}
		});
		this.overstays.look(nowNanos);
	}

	/**
	 * Ends a record that holds a watermark: it goes to another topic, whatever its
	 * handler does, unless its answer comes first.
	 * @param delivery the delivery
	 * @param cause why
	 * @return {@code false} if it is settled, given up or let go already, or has nowhere
	 * to go
	 */
	public boolean moveAside(Delivery delivery, Throwable cause) {
		Attempt attempt = delivery.attempt();
		int attempts = (attempt != null) ? attempt.attempt() : 0;
		Failure failure = new Failure(DeadLetterReason.HOL_CANCEL, attempts, cause);
		Destination destination = this.routes.aside(delivery);
		if (destination == null) {
			return false;
		}
		if (delivery.move(DeliveryState.BACKOFF, DeliveryState.DEAD_LETTERING)
				|| delivery.move(DeliveryState.QUEUED, DeliveryState.DEAD_LETTERING)) {
			delivery.cancelBackoff();
			this.deadLetters.publish(delivery, failure, destination);
			this.outcomes.cancelled();
			return true;
		}
		AtomicBoolean moved = new AtomicBoolean();
		if (attempt == null || delivery.state() != DeliveryState.IN_FLIGHT || !cutOff(attempt, () -> {
			attempt.release();
			attempt.concluded(AttemptOutcome.CANCELLED, cause);
			// It may be let go at this moment.
			if (delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.DEAD_LETTERING)) {
				moved.set(true);
				this.outcomes.cancelled();
				this.deadLetters.publish(delivery, failure, destination);
			}
		})) {
			return false;
		}
		attempt.cancel();
		this.overstays.add(attempt, this.time.nanoTime());
		return moved.get();
	}

	/**
	 * Records settled by their handler.
	 * @return the number
	 */
	public long acknowledged() {
		return this.outcomes.acknowledgedCount();
	}

	/**
	 * Begins a record later.
	 * @param delivery a record that waits for its first attempt
	 * @param time time to wait
	 */
	public void rest(Delivery delivery, Duration time) {
		if (delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF)) {
			backOff(delivery, time);
		}
	}

	/**
	 * Drops records from a queue of waiting ones that were moved aside meanwhile, for
	 * lanes whose slots do not come free.
	 * @param queue the queue
	 */
	public void forgetMoved(TaskQueue<Delivery> queue) {
		this.dispatcher.drop(queue, Delivery::isEnded);
	}

	/** Says that no attempt can succeed, whatever it depends on. */
	private void verdict(Attempt attempt, DeadLetterReason reason, Throwable cause) {
		attempt.release();
		attempt.delivery().failedWith(cause, this.time.nanoTime(), false);
		handOver(attempt, reason, cause, this.routes.afterVerdict(attempt.delivery()));
	}

	private void failure(Attempt attempt, Duration delay, DeadLetterReason reason, Throwable cause) {
		fail(attempt, delay, reason, cause, false);
	}

	private void fail(Attempt attempt, Duration delay, DeadLetterReason reason, Throwable cause, boolean timedOut) {
		Destination destination = this.judge.failed(attempt, cause, timedOut, this.time.nanoTime());
		if (destination != null) {
			handOver(attempt, reason, cause, destination);
		}
		else {
			retry(attempt, delay, cause);
		}
	}

	/** Carries out the handler's answer if nobody has decided before. */
	private boolean conclude(Attempt attempt, Runnable consequence) {
		return conclude(attempt, attempt.claim(), consequence);
	}

	/** Decides against the handler if it has not answered before. */
	private boolean cutOff(Attempt attempt, Runnable consequence) {
		Progress before = attempt.cutOff();
		if (before.isDecided()) {
			return false;
		}
		attempt.run(() -> conclude(attempt, before, consequence));
		return true;
	}

	/** Carries out the first decision; a detached attempt's slot is free afterwards. */
	private boolean conclude(Attempt attempt, Progress before, Runnable consequence) {
		if (before.isDecided()) {
			return false;
		}
		try {
			consequence.run();
		}
		catch (Throwable ex) {
			// Whoever should hold the record now may not.
			stop(attempt.delivery(), ex);
			attempt.concluded(AttemptOutcome.CANCELLED, ex);
			throw ex;
		}
		finally {
			if (before == Progress.DETACHED) {
				this.dispatcher.release(attempt.slot());
			}
		}
		return true;
	}

	/** First the queue, so that no record that waits for this one runs before it. */
	private void stop(Delivery delivery, Throwable error) {
		try {
			this.fatal.accept(error);
		}
		finally {
			delivery.letGo();
		}
	}

	private void retry(Attempt attempt, Duration wanted, Throwable cause) {
		Duration delay = (wanted.compareTo(MAX_DELAY) < 0) ? wanted : MAX_DELAY;
		if (attempt.delivery().move(DeliveryState.IN_FLIGHT, DeliveryState.BACKOFF)) {
			this.outcomes.retried();
			backOff(attempt.delivery(), delay);
			// Not the exception itself: describing it is user code, which may throw.
			LOGGER.debug("{} failed with {} and is tried again in {}", attempt, cause.getClass().getName(), delay);
		}
		attempt.concluded(AttemptOutcome.RETRIED, cause);
	}

	private void backOff(Delivery delivery, Duration delay) {
		delivery.waitsUntil(this.time.nanoTime() + delay.toNanos());
		this.retries.schedule(delivery, delay);
	}

	private void handOver(Attempt attempt, DeadLetterReason reason, Throwable cause,
			@Nullable Destination destination) {
		if (destination == null) {
			retry(attempt, backoffAfter(attempt), cause);
		}
		else if (attempt.delivery().move(DeliveryState.IN_FLIGHT, DeliveryState.DEAD_LETTERING)) {
			this.deadLetters.publish(attempt.delivery(), new Failure(reason, attempt.attempt(), cause), destination);
		}
		attempt.concluded(AttemptOutcome.NACKED, cause);
	}

}
