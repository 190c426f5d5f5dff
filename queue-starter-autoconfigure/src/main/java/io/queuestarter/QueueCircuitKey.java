package io.queuestarter;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Tells what a record depends on, so that the outage of one thing does not stop what
 * depends on others: records of one key share a circuit breaker. Defined as a bean, it
 * applies to all queues, and instead of the property {@code circuit-breaker.key-header}.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface QueueCircuitKey {

	/**
	 * Key of a record. Called by worker threads for each attempt; must be quick. If it
	 * throws, the record has no key.
	 * @param queue id of the queue
	 * @param record the record as polled
	 * @return the key, or {@code null} if the record depends on what all depend on; of
	 * more than 100 keys those that come later share one breaker
	 */
	@Nullable String keyOf(String queue, ConsumerRecord<byte[], byte[]> record);

}
