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
		DEAD_LETTER("dead-letter topic", "dlq.topic, or set dlq.enabled=false"),

		/** Records that rest until their next attempt. */
		RETRY("retry topic", "retry.topics"),

		/** Records that held others up, and go on by themselves. */
		PARK("park topic", "blocking.park-topic"),

		/** Records of a lane that others serve. */
		FORWARD("topic of another lane", "lanes.forward-topic");

		/** What operators call it. */
		final String text;

		/** How to do without it. */
		final String alternative;

		Kind(String text, String alternative) {
			this.text = text;
			this.alternative = alternative;
		}

	}

}
