package io.queuestarter;

/**
 * Masks what operators are shown of dead letters, where payloads are shown at all
 * ({@code kafka-queue.dlq.show-payloads}). Defined as a bean, it applies to all queues;
 * of several beans each masks what the one before it left.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface QueuePayloadMask {

	/**
	 * Masks a text. Called by the thread of the request, with the whole text, before it
	 * is cut to what an answer shows. If it throws, nothing of the text is shown. What is
	 * no text is not shown as long as there is a mask.
	 * @param queue id of the queue
	 * @param part what the text is: {@code payload}, {@code key}, {@code exception} for
	 * its message, or {@code header:} and the name
	 * @param text the text
	 * @return what is shown
	 */
	String mask(String queue, String part, String text);

}
