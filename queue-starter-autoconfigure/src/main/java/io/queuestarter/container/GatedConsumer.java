package io.queuestarter.container;

/**
 * Marks a consumer that a gate stands in front of.
 */
interface GatedConsumer {

	/**
	 * The gate.
	 * @return the gate of this consumer
	 */
	ConsumerGate gate();

}
