package io.queuestarter.delivery;

/**
 * Where a record stands.
 */
public enum DeliveryState {

	/** Waits for a worker. */
	QUEUED,

	/** An attempt is open: its handler runs, or its asynchronous result is awaited. */
	IN_FLIGHT,

	/** Waits for the moment of its next attempt. */
	BACKOFF,

	/** Is being written to the dead-letter topic. */
	DEAD_LETTERING,

	/** Could not be written to the dead-letter topic and waits for the next write. */
	DEAD_LETTER_HELD,

	/** Is done; the watermark may pass it. */
	SETTLED,

	/** Was written to another topic and is done here; the watermark may pass it. */
	REDIRECTED,

	/** Was let go with its partition, or by a queue that stopped; is delivered again. */
	LET_GO

}
