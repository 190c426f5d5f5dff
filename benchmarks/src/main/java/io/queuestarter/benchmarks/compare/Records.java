package io.queuestarter.benchmarks.compare;

import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * A topic and a group that has not consumed it yet.
 */
interface Records {

	String topic();

	/** Also the client's id. */
	String group();

	/** Configuration of the group's consumers. */
	Map<String, Object> configuration();

	/** A consumer of the group that is subscribed to nothing. */
	<K> Consumer<K, byte[]> consumer(Map<String, Object> configuration, Deserializer<K> keys);

	default Consumer<byte[], byte[]> consumer() {
		return consumer(configuration(), new ByteArrayDeserializer());
	}

	/** Whether the group's offsets have come to the end of the topic. */
	boolean isCommitted();

}
