package io.queuestarter.sample;

import java.time.Instant;

import org.springframework.stereotype.Component;

/**
 * Charges trips: the work that all three listeners do. It does not know which of them
 * calls.
 */
@Component
final class Billing {

	private final Providers providers;

	private volatile Tally tally = new Tally();

	Billing(Providers providers) {
		this.providers = providers;
	}

	void charge(Trip trip) throws InterruptedException {
		Tally current = this.tally;
		try {
			this.providers.of(trip.card()).charge(trip);
		}
		catch (DeclinedException | ProviderException ex) {
			current.failed();
			throw ex;
		}
		current.charged(trip, Instant.now());
	}

	/** Counts from now on into a new tally. */
	Tally newTally() {
		Tally next = new Tally();
		this.tally = next;
		return next;
	}

}
