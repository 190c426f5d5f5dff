package io.queuestarter.sample;

/**
 * Trips that {@link Traffic} sends, paid with Visa and Mastercard in turn.
 *
 * @param perSecond how many a second
 * @param poisonEvery one of so many is poison, of both cards alike; 0 if none is
 */
record Load(int perSecond, int poisonEvery) {

	Load withoutPoison() {
		return new Load(this.perSecond, 0);
	}

	/** Fare of the trip that comes after so many others. */
	long fareAfter(int others) {
		if (this.poisonEvery == 0) {
			return Trip.FARE;
		}
		// One place further in every other block, where the other card's turn is.
		int place = (others / this.poisonEvery) % Card.values().length;
		return (others % this.poisonEvery == place) ? Trip.POISON_FARE : Trip.FARE;
	}

}
