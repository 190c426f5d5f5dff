package io.queuestarter.sample;

import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;

/**
 * A listener at work.
 *
 * @param design which one
 * @param tally what it does
 * @param watch sees how far it has come
 * @param slipIn sends a Visa trip of an unusual fare in between and gives its offset
 */
record Run(Design design, Tally tally, Watch watch, LongFunction<CompletableFuture<Long>> slipIn) {

	/** Sends a Visa trip of an unusual fare in between; gives its offset. */
	long slipIn(long cents) {
		return this.slipIn.apply(cents).join();
	}

}
