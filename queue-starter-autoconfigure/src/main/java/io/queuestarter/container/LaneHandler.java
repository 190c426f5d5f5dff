package io.queuestarter.container;

import io.queuestarter.QueueListener;

/**
 * A method that handles one lane of a queue in place of the queue's own method.
 *
 * @param queue id of the queue, resolved
 * @param lane name of the lane, resolved
 * @param definition the method and its annotation
 */
record LaneHandler(String queue, String lane, QueueDefinition definition) {

	/** The method as error messages name it. */
	String methodName() {
		return this.definition.methodName();
	}

	/** Id of the listener for Spring Kafka; no queue can have it. */
	static String idOf(String queue, String lane) {
		return queue + "#" + lane;
	}

	/** Whether a method is for a lane of another one's queue. */
	static boolean isAny(QueueListener annotation) {
		return !annotation.queue().isEmpty() || !annotation.lane().isEmpty();
	}

}
