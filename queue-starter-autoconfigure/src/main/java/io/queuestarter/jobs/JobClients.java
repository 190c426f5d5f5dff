package io.queuestarter.jobs;

import java.util.Map;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/**
 * Connects jobs to the cluster of their queue. <em>Thread-safe.</em>
 */
public interface JobClients {

	/**
	 * Makes a consumer of bytes that commits nothing by itself.
	 * @param overrides settings beside the application's
	 * @return the consumer, to be closed by the caller
	 */
	Consumer<byte[], byte[]> consumer(Map<String, Object> overrides);

	/**
	 * The idempotent producer of jobs.
	 * @return the producer, to be closed by the caller
	 */
	Producer<byte[], byte[]> producer();

	/**
	 * The admin client.
	 * @return the client, not to be closed
	 */
	Admin admin();

}
