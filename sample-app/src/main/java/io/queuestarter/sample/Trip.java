package io.queuestarter.sample;

import java.time.Instant;

/**
 * A finished trip that is to be charged.
 *
 * @param number number of the trip since the application started
 * @param card card it is paid with
 * @param cents its fare; the card is declined if it is negative
 * @param created when the trip ended
 */
record Trip(long number, Card card, long cents, Instant created) {

	/** A fare like any other. */
	static final long FARE = 12_50;

	/** From this fare on a provider checks by hand, which takes longer. */
	static final long CHECKED_FARE = 10_000_00;

	/** A fare that no provider will ever accept. */
	static final long POISON_FARE = -1;

	/** Whether it is declined however often a provider is asked. */
	boolean poison() {
		return this.cents < 0;
	}

}
