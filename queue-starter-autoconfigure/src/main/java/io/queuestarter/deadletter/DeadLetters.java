package io.queuestarter.deadletter;

import io.queuestarter.delivery.Delivery;

/**
 * Takes records that are not handled here any more: for good, or until their next
 * attempt.
 */
@FunctionalInterface
public interface DeadLetters {

	/**
	 * Writes a record to another topic and settles it when the broker has acknowledged
	 * the write. Thread-safe; never blocks, since the write happens on another thread,
	 * and throws nothing of it. A write that fails is repeated until it succeeds or the
	 * record is let go; between two writes the delivery is held. Once closed, the record
	 * is let go at once.
	 * @param delivery a delivery in dead-lettering
	 * @param failure why
	 * @param destination where to
	 */
	void publish(Delivery delivery, Failure failure, Destination destination);

}
