package io.queuestarter.sample;

/**
 * A provider will not charge this trip, however often it is asked.
 */
class DeclinedException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	DeclinedException(Trip trip) {
		super("A fare of " + trip.cents() + " cents is declined");
	}

}
