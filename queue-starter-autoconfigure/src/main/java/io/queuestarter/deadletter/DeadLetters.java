package io.queuestarter.deadletter;

import io.queuestarter.delivery.Delivery;

/**
 * Takes records that will not be tried again.
 */
@FunctionalInterface
public interface DeadLetters {

	/**
	 * Writes a record to its dead-letter topic and settles it when the broker has
	 * acknowledged the write. Never blocks, never throws. A write that fails is repeated
	 * until it succeeds or the record is let go.
	 * @param delivery a delivery in dead-lettering
	 * @param failure why
	 */
	void publish(Delivery delivery, Failure failure);

}
