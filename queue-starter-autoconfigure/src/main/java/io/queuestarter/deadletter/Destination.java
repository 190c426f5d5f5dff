package io.queuestarter.deadletter;

/**
 * Where a record goes that is not handled here any more.
 *
 * @param kind what the topic is for
 * @param topic the topic
 * @param retries times that the record rested in a retry topic, this one included
 */
public record Destination(Kind kind, String topic, int retries) {

	/**
	 * What a topic is for.
	 */
	public enum Kind {

		/** Records that people decide about. */
		DEAD_LETTER,

		/** Records that rest until their next attempt. */
		RETRY,

		/** Records that held others up, and go on by themselves. */
		PARK

	}

}
