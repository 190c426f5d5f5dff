package io.queuestarter.benchmarks.compare;

import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * A topic of a broker.
 */
final class BrokerRecords implements Records {

	private final Cluster cluster;

	private final String topic;

	private final String group;

	private final Load load;

	BrokerRecords(Cluster cluster, String topic, String group, Load load) {
		this.cluster = cluster;
		this.topic = topic;
		this.group = group;
		this.load = load;
	}

	static Map<String, Object> configuration(String address, String group) {
		Map<String, Object> configuration = new HashMap<>();
		configuration.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, address);
		configuration.put(ConsumerConfig.GROUP_ID_CONFIG, group);
		configuration.put(ConsumerConfig.CLIENT_ID_CONFIG, group);
		configuration.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		configuration.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		configuration.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
		configuration.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
		return configuration;
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
		return configuration(this.cluster.address(), this.group);
	}

	@Override
	public <K> Consumer<K, byte[]> consumer(Map<String, Object> configuration, Deserializer<K> keys) {
		return new KafkaConsumer<>(configuration, keys, new ByteArrayDeserializer());
	}

	@Override
	public boolean isCommitted() {
		return this.cluster.committed(this.group) >= this.load.records();
	}

}
