package io.queuestarter.testkit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * The embedded broker of this JVM, and an administrator's view of it.
 */
public final class Broker {

	private static final AtomicInteger TOPICS = new AtomicInteger();

	private static final EmbeddedKafkaKraftBroker BROKER = start();

	private static final Admin ADMIN = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap()));

	private static final KafkaProducer<byte[], byte[]> PRODUCER = new KafkaProducer<>(
			Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap()), new ByteArraySerializer(),
			new ByteArraySerializer());

	private Broker() {
	}

	private static EmbeddedKafkaKraftBroker start() {
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		Map<String, String> properties = new HashMap<>();
		properties.put("auto.create.topics.enable", "false");
		// Records of 1970 stay, unless a topic says otherwise.
		properties.put("log.retention.ms", "-1");
		properties.put("group.initial.rebalance.delay.ms", "0");
		properties.put("offsets.topic.num.partitions", "4");
		properties.put("transaction.state.log.num.partitions", "4");
		properties.put("transaction.state.log.replication.factor", "1");
		properties.put("transaction.state.log.min.isr", "1");
		properties.put("transaction.abort.timed.out.transaction.cleanup.interval.ms", "500");
		properties.put("log.cleaner.backoff.ms", "200");
		properties.put("group.consumer.heartbeat.interval.ms", "200");
		properties.put("group.consumer.min.heartbeat.interval.ms", "100");
		// Lets groups choose; what they get without a choice stays as it is.
		properties.put("group.min.session.timeout.ms", "1000");
		properties.put("group.consumer.min.session.timeout.ms", "1000");
		broker.brokerProperties(properties);
		// Not the property that applications read, so that a test can name another
		// broker.
		broker.brokerListProperty("queuestarter.test.brokers");
		broker.afterPropertiesSet();
		Runtime.getRuntime().addShutdownHook(new Thread(broker::destroy));
		return broker;
	}

	/** Address of the broker. */
	public static String bootstrap() {
		return BROKER.getBrokersAsString();
	}

	/** Client of an administrator. */
	public static Admin admin() {
		return ADMIN;
	}

	/** Creates a topic of a name not used before. */
	public static String newTopic(String name, int partitions) {
		return newTopic(name, partitions, Map.of());
	}

	/** Creates a topic of a name not used before. */
	public static String newTopic(String name, int partitions, Map<String, String> config) {
		String topic = name + "-" + TOPICS.incrementAndGet();
		createTopic(topic, partitions, config);
		return topic;
	}

	/** Creates a topic. */
	public static void createTopic(String topic, int partitions, Map<String, String> config) {
		await(ADMIN.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(config))).all());
		awaitLeaders(topic, partitions);
	}

	/** What sets configuration of a topic. */
	public static Map<ConfigResource, Collection<AlterConfigOp>> topicConfig(String topic, Map<String, String> config) {
		return Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic),
				config.entrySet()
					.stream()
					.map((entry) -> new AlterConfigOp(new ConfigEntry(entry.getKey(), entry.getValue()),
							AlterConfigOp.OpType.SET))
					.toList());
	}

	private static void awaitLeaders(String topic, int partitions) {
		org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> {
			TopicDescription description = await(ADMIN.describeTopics(List.of(topic)).allTopicNames()).get(topic);
			return description != null && description.partitions().size() == partitions
					&& description.partitions().stream().allMatch((partition) -> partition.leader() != null);
		});
	}

	/** Adds partitions to a topic. */
	public static void growTopic(String topic, int partitions) {
		await(ADMIN.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions))).all());
		awaitLeaders(topic, partitions);
	}

	/** Deletes a topic and waits until the broker no longer knows it. */
	public static void deleteTopic(String topic) {
		await(ADMIN.deleteTopics(List.of(topic)).all());
		org.awaitility.Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> partitionsOf(topic) == 0);
	}

	/** Number of partitions of a topic, or 0 if it does not exist. */
	public static int partitionsOf(String topic) {
		if (!await(ADMIN.listTopics().names()).contains(topic)) {
			return 0;
		}
		TopicDescription description = await(ADMIN.describeTopics(List.of(topic)).allTopicNames()).get(topic);
		return (description != null) ? description.partitions().size() : 0;
	}

	/** Sends one record of text and waits for the broker. */
	public static RecordMetadata send(String topic, @Nullable String key, @Nullable String value) {
		return send(new ProducerRecord<>(topic, null, bytes(key), bytes(value)));
	}

	/** Sends one record and waits for the broker. */
	public static RecordMetadata send(ProducerRecord<byte[], byte[]> record) {
		return await(PRODUCER.send(record));
	}

	/**
	 * Sends values "0" to "count - 1", to partitions in turn, and waits for the broker.
	 */
	public static void sendNumbers(String topic, int partitions, int count) {
		List<Future<RecordMetadata>> sends = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			sends.add(PRODUCER.send(new ProducerRecord<>(topic, i % partitions, null, bytes(Integer.toString(i)))));
		}
		PRODUCER.flush();
		sends.forEach(Broker::await);
	}

	/** Text as bytes. */
	public static byte @Nullable [] bytes(@Nullable String text) {
		return (text != null) ? text.getBytes(StandardCharsets.UTF_8) : null;
	}

	/** What a group has committed for a partition, or null. */
	public static @Nullable OffsetAndMetadata committed(String group, String topic, int partition) {
		return await(ADMIN.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
			.get(new TopicPartition(topic, partition));
	}

	/** Offset that a group has committed for a partition, or -1. */
	public static long committedOffset(String group, String topic, int partition) {
		OffsetAndMetadata committed = committed(group, topic, partition);
		return (committed != null) ? committed.offset() : -1;
	}

	/** Sum of the offsets that a group has committed for all partitions of a topic. */
	public static long committedSum(String group, String topic) {
		return await(ADMIN.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).entrySet()
			.stream()
			.filter((entry) -> entry.getKey().topic().equals(topic))
			.mapToLong((entry) -> entry.getValue().offset())
			.sum();
	}

	/** End of the log of a partition. */
	public static long end(TopicPartition partition) {
		return await(ADMIN.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition)).offset();
	}

	/** All records of a topic, up to its end at the time of the call. */
	public static List<ConsumerRecord<byte[], byte[]>> records(String topic) {
		Map<String, Object> config = new HashMap<>();
		config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap());
		try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(),
				new ByteArrayDeserializer())) {
			Collection<TopicPartition> partitions = consumer.partitionsFor(topic)
				.stream()
				.map((info) -> new TopicPartition(topic, info.partition()))
				.toList();
			consumer.assign(partitions);
			consumer.seekToBeginning(partitions);
			Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
			List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
			while (ends.entrySet().stream().anyMatch((end) -> consumer.position(end.getKey()) < end.getValue())) {
				consumer.poll(Duration.ofMillis(100)).forEach(records::add);
			}
			return records;
		}
	}

	/** Waits for an answer of the broker. */
	public static <T> T await(Future<T> future) {
		try {
			return future.get(30, TimeUnit.SECONDS);
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
