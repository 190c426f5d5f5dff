package io.queuestarter.container;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

import io.queuestarter.jobs.JobClients;

/**
 * Clients of the cluster that the queues consume from, for jobs. <em>Thread-safe.</em>
 */
final class ClusterClients implements JobClients {

	private final Map<String, Object> consumerProperties;

	private final Map<String, Object> producerProperties;

	private final Supplier<Admin> admin;

	ClusterClients(Map<String, Object> consumerProperties, Map<String, Object> producerProperties,
			Supplier<Admin> admin) {
		this.consumerProperties = consumerProperties;
		this.producerProperties = producerProperties;
		this.admin = admin;
	}

	@Override
	public Consumer<byte[], byte[]> consumer(Map<String, Object> overrides) {
		Map<String, Object> properties = new HashMap<>(this.consumerProperties);
		properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
		properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
		properties.remove(ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG);
		properties.remove(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG);
		properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		properties.putAll(overrides);
		return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
	}

	@Override
	public Producer<byte[], byte[]> producer() {
		Map<String, Object> properties = QueueRuntime.deadLetterProducer(this.consumerProperties,
				this.producerProperties);
		properties.put(ProducerConfig.CLIENT_ID_CONFIG, "queue-jobs");
		return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
	}

	@Override
	public Admin admin() {
		return this.admin.get();
	}

}
