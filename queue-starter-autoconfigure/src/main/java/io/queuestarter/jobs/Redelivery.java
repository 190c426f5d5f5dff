package io.queuestarter.jobs;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Delivery;

/**
 * Gives dead letters to the handler of their queue, under its limits. <em>For the thread
 * of one job.</em>
 */
public interface Redelivery extends AutoCloseable {

	/**
	 * What keeps the handler from being called now.
	 * @return a text for operators, or {@code null} if nothing does
	 */
	@Nullable String obstacle();

	/**
	 * Whether another letter may be handed over now.
	 * @return {@code false} while enough of them wait
	 */
	boolean hasRoom();

	/**
	 * Why a letter must not reach the handler of this process, whatever is asked for.
	 * @param letter the dead letter
	 * @return a text for operators, or {@code null} if it may
	 */
	@Nullable String refusal(ConsumerRecord<byte[], byte[]> letter);

	/**
	 * Hands a letter over. It ends handled, dead-lettered again, or let go if the queue
	 * cannot go on.
	 * @param letter the dead letter; of one partition in ascending order
	 * @param source topic that it came from first
	 * @return its delivery, whose state tells how it ended
	 */
	Delivery deliver(ConsumerRecord<byte[], byte[]> letter, String source);

	/**
	 * Lets go of all letters whose handler does not run.
	 */
	void letGoIdle();

	/**
	 * Lets go of all letters, and cancels the handlers that run.
	 */
	@Override
	void close();

}
