package io.queuestarter.benchmarks.compare;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntUnaryOperator;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The broker, as the benchmark itself uses it.
 */
final class Cluster implements AutoCloseable {

	private final String address;

	private final Admin admin;

	Cluster(String address) {
		this.address = address;
		this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address));
	}

	String address() {
		return this.address;
	}

	static byte[] key(int key) {
		return Integer.toString(key).getBytes(StandardCharsets.US_ASCII);
	}

	private static <T> T get(KafkaFuture<T> future) {
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex.getCause());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * A producer with one request at a time: on a new topic the first ones may overtake
	 * each other, and it would repeat them until they expire.
	 */
	KafkaProducer<byte[], byte[]> producer() {
		return new KafkaProducer<>(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, this.address,
				ProducerConfig.ACKS_CONFIG, "all", ProducerConfig.LINGER_MS_CONFIG, 0,
				ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1, ProducerConfig.BATCH_SIZE_CONFIG, 64 * 1024,
				ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 8 * 1024 * 1024), new ByteArraySerializer(),
				new ByteArraySerializer());
	}

	/** Creates a topic that holds the backlog of a scenario. */
	void create(String topic, Load load) {
		get(this.admin.createTopics(List.of(new NewTopic(topic, load.partitions(), (short) 1)
			.configs(Map.of("max.message.bytes", Integer.toString(8 * 1024 * 1024))))).all());
		if (!load.broker()) {
			return;
		}
		IntUnaryOperator keys = load.keys().byNumber();
		AtomicReference<Exception> failure = new AtomicReference<>();
		try (KafkaProducer<byte[], byte[]> producer = producer()) {
			for (int number = 0; number < load.backlog(); number++) {
				int key = keys.applyAsInt(number);
				int partition = (load.keys() == Keys.EVEN) ? load.partitionOf(number) : key % load.partitions();
				producer.send(
						new ProducerRecord<>(topic, partition, key(key), Probe.value(number, 0, load.valueBytes())),
						(metadata, error) -> {
							if (error != null) {
								failure.set(error);
							}
						});
			}
		}
		if (failure.get() != null) {
			throw new IllegalStateException(failure.get());
		}
	}

	void delete(String topic) {
		get(this.admin.deleteTopics(List.of(topic)).all());
	}

	/** Share groups read what is there, as the consumer groups do. */
	void readFromBeginning(String shareGroup) {
		get(this.admin
			.incrementalAlterConfigs(
					Map.of(new ConfigResource(ConfigResource.Type.GROUP, shareGroup),
							List.of(new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"),
									AlterConfigOp.OpType.SET))))
			.all());
	}

	/** Sum of a group's offsets. */
	long committed(String group) {
		return get(this.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).values()
			.stream()
			.mapToLong((offset) -> (offset != null) ? offset.offset() : 0)
			.sum();
	}

	@Override
	public void close() {
		this.admin.close();
	}

}
