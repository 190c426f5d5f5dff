package io.queuestarter.settle;

import io.queuestarter.retry.Backoff;

/**
 * How often a failed record is tried again.
 *
 * @param maxAttempts attempts before a record is given up
 * @param maxTimeouts attempts that time out before a record is given up
 * @param backoff delay between attempts
 * @param exceptions which exceptions are worth another attempt
 */
public record RetryRule(int maxAttempts, int maxTimeouts, Backoff backoff, ExceptionPolicy exceptions) {

}
