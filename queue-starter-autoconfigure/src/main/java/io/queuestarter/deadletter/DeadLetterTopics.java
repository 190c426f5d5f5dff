package io.queuestarter.deadletter;

/**
 * Sees to it that dead-letter topics exist.
 */
@FunctionalInterface
public interface DeadLetterTopics {

	/**
	 * Checks that a dead-letter topic exists, or creates it. May block for as long as a
	 * request to the broker takes.
	 * @param source topic whose records it is for; its partition count, and the limit it
	 * sets on the size of its records, are taken over
	 * @param deadLetterTopic the dead-letter topic
	 * @throws Exception if the topic does not exist and was not created; the message says
	 * why and what to do
	 */
	void ensure(String source, String deadLetterTopic) throws Exception;

}
