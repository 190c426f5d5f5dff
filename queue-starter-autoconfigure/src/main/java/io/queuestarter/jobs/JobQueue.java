package io.queuestarter.jobs;

import java.util.Set;

/**
 * What jobs need of a queue. <em>Thread-safe.</em>
 */
public interface JobQueue {

	/**
	 * Id of the queue.
	 * @return the id
	 */
	String id();

	/**
	 * Its consumer group.
	 * @return the group id
	 */
	String group();

	/**
	 * Topics that its dead letters go to.
	 * @return names, empty if it has none
	 */
	Set<String> deadLetterTopics();

	/**
	 * Whether the queue consumes a topic that others write.
	 * @param topic name of a topic
	 * @return {@code false} also for topics that the queue writes itself
	 */
	boolean isSource(String topic);

	/**
	 * Opens a way to the queue's handler.
	 * @return the way, to be closed by the caller
	 */
	Redelivery redelivery();

}
