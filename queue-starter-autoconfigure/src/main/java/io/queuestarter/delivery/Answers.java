package io.queuestarter.delivery;

import java.time.Duration;

import io.queuestarter.outage.Circuit;

/**
 * Receives what a handler decides about its attempt. Called by any thread, any number of
 * times; only the first answer of an attempt takes effect.
 */
public interface Answers {

	/**
	 * A worker begins to run the handler. Called by the worker; must be quick.
	 * @param attempt the attempt, which has its slot to itself
	 */
	default void entered(Attempt attempt) {
	}

	/**
	 * The worker has ended running the handler. Called by the worker; must be quick.
	 * @param attempt the attempt, whose slot others may have meanwhile
	 */
	default void left(Attempt attempt) {
	}

	/**
	 * The record is handled.
	 * @param attempt the attempt
	 */
	void handled(Attempt attempt);

	/**
	 * The attempt failed.
	 * @param attempt the attempt
	 * @param error why
	 */
	void failed(Attempt attempt, Throwable error);

	/**
	 * The attempt was made together with those for other records, and they failed as a
	 * whole: it says nothing of its record, which is tried again alone.
	 * @param attempt the attempt
	 * @param error why
	 */
	void failedTogether(Attempt attempt, Throwable error);

	/**
	 * The attempt was made together with those for other records, and ended with one of
	 * them before it came to its own record, which is to be handled again.
	 * @param attempt the attempt
	 */
	void notReached(Attempt attempt);

	/**
	 * The handler wants another attempt.
	 * @param attempt the attempt
	 * @param delay time to wait
	 */
	void retryAfter(Attempt attempt, Duration delay);

	/**
	 * The handler wants the record dead-lettered.
	 * @param attempt the attempt
	 * @param reason why
	 */
	void rejected(Attempt attempt, String reason);

	/**
	 * No attempt may be made at this time, because what it depends on is out of order.
	 * @param delivery a queued delivery, without an attempt
	 * @param circuit what refused it
	 */
	void refused(Delivery delivery, Circuit circuit);

	/**
	 * An attempt could not be opened.
	 * @param delivery a queued delivery, without an attempt
	 * @param error why
	 */
	void notStarted(Delivery delivery, Throwable error);

	/**
	 * The record was let go while the attempt was open.
	 * @param attempt the attempt
	 */
	void abandoned(Attempt attempt);

}
