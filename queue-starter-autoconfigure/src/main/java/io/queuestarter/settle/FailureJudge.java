package io.queuestarter.settle;

import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueRejectException;
import io.queuestarter.QueueRetryException;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.handler.Failures;
import io.queuestarter.outage.Circuit;

/**
 * Tells what failed attempts mean: whether the record is at fault or what it depends on,
 * and whether another attempt follows. <em>Thread-safe; called once for each attempt, by
 * whoever decided it.</em>
 */
/*
 * The record may be at fault, or what it depends on: as long as the latter is not known
 * to answer, the record is tried again, and what it failed in doubt does not count. What
 * fails for good must not open the breaker: each record counts for as many failures as it
 * has attempts, and for none any more once others have succeeded since its first.
 * Otherwise a window in which poison is left alone would look like an outage, and nothing
 * would ever end it.
 */
final class FailureJudge {

	private final RetryRule rule;

	private final Routes routes;

	FailureJudge(RetryRule rule, Routes routes) {
		this.rule = rule;
		this.routes = routes;
	}

	/**
	 * Why no further attempt can succeed, whatever it depends on; or null if one may.
	 */
	@Nullable DeadLetterReason verdict(Attempt attempt, Throwable cause) {
		if (cause instanceof QueueRejectException) {
			return DeadLetterReason.NACK;
		}
		if (Failures.isUndecodable(cause) && !Failures.isTransient(cause)) {
			return DeadLetterReason.UNDECODABLE;
		}
		if (!attempt.isCalled() && Failures.isUnprocessable(cause)) {
			return DeadLetterReason.UNPROCESSABLE;
		}
		if (isOfHandler(cause) && !this.rule.exceptions().isRetryable(cause)) {
			return DeadLetterReason.NOT_RETRYABLE;
		}
		return null;
	}

	/**
	 * Whether neither the handler nor its deserializer has said itself what is to come.
	 */
	private static boolean isOfHandler(Throwable cause) {
		return !(cause instanceof QueueRetryException) && !Failures.isUndecodable(cause);
	}

	/**
	 * Counts a failure and tells the breaker of it, if it is one of what the record
	 * depends on.
	 * @return where the record goes that is given up, or null if it is tried again
	 */
	@Nullable Destination failed(Attempt attempt, Throwable cause, boolean timedOut, long nowNanos) {
		Delivery delivery = attempt.delivery();
		Circuit circuit = attempt.circuit();
		boolean wished = cause instanceof QueueRetryException;
		// Before the breaker is told: this failure may close it, if it is the last trial.
		boolean inDoubt = attempt.isTrial() || circuit.isDoubtful() || attempt.openings() != circuit.openings();
		boolean exhausted = delivery.countFailure(circuit.openings(), inDoubt, timedOut, attemptsOf(delivery),
				this.rule.maxTimeouts());
		boolean alone = !wished && delivery.hasFailed() && circuit.answersSince(delivery.firstFailureNanos());
		if (!wished && !alone && delivery.countedFailures() <= attemptsOf(delivery) && delivery.failedTrials() <= 1) {
			circuit.failed(attempt.startedNanos(), nowNanos, cause);
		}
		else {
			attempt.release();
		}
		delivery.failedWith(cause, nowNanos, alone || (!wished && isAtFault(attempt, timedOut, nowNanos)));
		Destination destination = (exhausted && !inDoubt) ? this.routes.afterAttempts(delivery) : null;
		return (destination != null && (delivery.assignment().stage().kind() == Stage.Kind.DEAD_LETTER
				|| circuit.mayGiveUp(delivery.firstFailureNanos(), attempt.failedBeforeNanos(), nowNanos)))
						? destination : null;
	}

	/**
	 * Whether others that began while it hung succeeded, or nobody has told otherwise for
	 * long.
	 */
	private static boolean isAtFault(Attempt attempt, boolean timedOut, long nowNanos) {
		Delivery delivery = attempt.delivery();
		Circuit circuit = attempt.circuit();
		return delivery.isAtFault() || (timedOut && circuit.answersSince(attempt.startedNanos()))
				|| (delivery.hasFailed() && circuit.isPatienceOver(delivery.firstFailureNanos(), nowNanos));
	}

	/** A record that rested in a retry topic has one attempt before it rests again. */
	private int attemptsOf(Delivery delivery) {
		return (delivery.assignment().stage().kind() == Stage.Kind.RETRY) ? 1 : this.rule.maxAttempts();
	}

}
