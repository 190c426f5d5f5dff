package io.queuestarter.benchmarks.compare;

import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Records that the consumer makes itself, so that nothing but the arm costs time.
 */
final class GeneratedRecords implements Records {

	private final String address;

	private final String topic;

	private final String group;

	private final Load load;

	private volatile @Nullable GeneratingConsumer<?> consumer;

	/** The broker is there for what arms ask besides. */
	GeneratedRecords(Cluster cluster, String topic, String group, Load load) {
		this.address = cluster.address();
		this.topic = topic;
		this.group = group;
		this.load = load;
	}

	@Override
	public String topic() {
		return this.topic;
	}

	@Override
	public String group() {
		return this.group;
	}

	@Override
	public Map<String, Object> configuration() {
		return BrokerRecords.configuration(this.address, this.group);
	}

	@Override
	public <K> Consumer<K, byte[]> consumer(Map<String, Object> configuration, Deserializer<K> keys) {
		GeneratingConsumer<K> created = new GeneratingConsumer<>(this.topic, this.load, keys);
		this.consumer = created;
		return created;
	}

	@Override
	public boolean isCommitted() {
		GeneratingConsumer<?> current = this.consumer;
		return current != null && current.committedRecords() >= this.load.backlog();
	}

}
