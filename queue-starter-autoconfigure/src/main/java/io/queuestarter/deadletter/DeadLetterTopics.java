package io.queuestarter.deadletter;

import java.time.Duration;

/**
 * Sees to it that dead-letter, retry and park topics exist.
 */
@FunctionalInterface
public interface DeadLetterTopics {

	/**
	 * Checks that a topic exists, or creates it. May block for as long as a request to
	 * the broker takes.
	 * @param source topic whose records it is for; its partition count, and the limit it
	 * sets on the size of its records, are taken over
	 * @param topic the topic
	 * @param kind what it is for
	 * @throws Exception if the topic does not exist and was not created; the message says
	 * why and what to do
	 */
	void ensure(String source, String topic, Destination.Kind kind) throws Exception;

	/**
	 * Warns of what threatens records in a topic that exists. May block like
	 * {@link #ensure}.
	 * @param topic the topic
	 * @param delay time that records rest there
	 * @throws Exception if the topic could not be looked up
	 */
	default void check(String topic, Duration delay) throws Exception {
	}

}
