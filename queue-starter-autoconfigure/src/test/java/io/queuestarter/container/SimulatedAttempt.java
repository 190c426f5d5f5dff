package io.queuestarter.container;

import io.queuestarter.delivery.Attempt;

/**
 * One attempt of the simulation, and who owns its record.
 */
final class SimulatedAttempt {

	final Attempt attempt;

	final Ownership ownership;

	private boolean answered;

	SimulatedAttempt(Attempt attempt, Ownership ownership) {
		this.attempt = attempt;
		this.ownership = ownership;
	}

	/** The model settles the record if this answer counts. */
	void succeeds() {
		if (counts()) {
			this.ownership.settles(this.attempt.record());
		}
		this.answered = true;
	}

	/** Answers otherwise: what follows does not count. */
	void fails() {
		this.answered = true;
	}

	boolean counts() {
		return !this.answered && !this.attempt.isCancelled() && !this.ownership.ended;
	}

	@Override
	public String toString() {
		return this.attempt + " in generation " + this.ownership.generation;
	}

}
