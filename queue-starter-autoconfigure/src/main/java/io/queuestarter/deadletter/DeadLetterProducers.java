package io.queuestarter.deadletter;

import org.apache.kafka.clients.producer.Producer;

/**
 * Gives the producer of dead letters, which queues may share.
 */
@FunctionalInterface
public interface DeadLetterProducers {

	/**
	 * The producer to write with now.
	 * @return the producer
	 */
	Producer<byte[], byte[]> get();

	/**
	 * Gives up the producer, so that the next one is new. May block until what is under
	 * way in it has ended.
	 */
	default void renew() {
	}

}
