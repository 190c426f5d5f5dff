package io.queuestarter.testkit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import kafka.server.BrokerServer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.apache.kafka.common.utils.Utils;

/**
 * Brokers that a test has for itself, since it cuts them off, stops them or guards them.
 */
public final class Cluster implements AutoCloseable {

	private static final String RELAYED = "RELAYED";

	private final KafkaClusterTestKit kit;

	private final AtomicInteger topics = new AtomicInteger();

	private Cluster(int brokers, Map<String, String> config) {
		Map<String, String> properties = new HashMap<>(Map.of("auto.create.topics.enable", "false",
				"group.initial.rebalance.delay.ms", "0", "offsets.topic.num.partitions", "2",
				"offsets.topic.replication.factor", Integer.toString(brokers), "default.replication.factor",
				Integer.toString(brokers), "transaction.state.log.num.partitions", "1"));
		// Members that are silent are soon thrown out.
		properties.putAll(Map.of("group.min.session.timeout.ms", "1000", "group.consumer.min.session.timeout.ms",
				"1000", "group.consumer.session.timeout.ms", "2000", "group.consumer.min.heartbeat.interval.ms", "100",
				"group.consumer.heartbeat.interval.ms", "300"));
		properties.putAll(config);
		this.kit = start(brokers, properties);
	}

	/**
	 * With one controller, which a single broker has in itself, so that tests can stop
	 * any broker.
	 */
	private static KafkaClusterTestKit start(int brokers, Map<String, String> properties) {
		TestKitNodes nodes = new TestKitNodes.Builder().setCombined(brokers == 1)
			.setNumControllerNodes(1)
			.setNumBrokerNodes(brokers)
			.build();
		KafkaClusterTestKit.Builder builder = new KafkaClusterTestKit.Builder(nodes);
		properties.forEach(builder::setConfigProp);
		try {
			KafkaClusterTestKit kit = builder.build();
			kit.format();
			kit.startup();
			kit.waitForReadyBrokers();
			return kit;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Starts brokers. */
	public static Cluster of(int brokers, Map<String, String> config) {
		return new Cluster(brokers, config);
	}

	/** Starts a broker that has a second listener, which is reached by a relay. */
	public static Cluster behind(Relay relay, String protocol, Map<String, String> config) {
		Map<String, String> listeners = new HashMap<>(config);
		listeners.put("listeners", "EXTERNAL://localhost:0,CONTROLLER://localhost:0,RELAYED://localhost:0");
		listeners.put("advertised.listeners", "EXTERNAL://localhost:0,RELAYED://" + relay.bootstrap());
		listeners.put("listener.security.protocol.map", "EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT,RELAYED:" + protocol);
		Cluster cluster = new Cluster(1, listeners);
		relay.to(cluster.broker(0).boundPort(new ListenerName(RELAYED)));
		return cluster;
	}

	/** Address of the brokers, past any relay. */
	public String bootstrap() {
		return this.kit.bootstrapServers();
	}

	/**
	 * Asks as an administrator, past any relay. Each time with a new client: one that has
	 * seen brokers come and go may wait for one that has gone.
	 */
	public <T> T ask(Function<Admin, KafkaFuture<T>> question) {
		try (Admin admin = Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap(),
				CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, 5000))) {
			return question.apply(admin).get(30, TimeUnit.SECONDS);
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private BrokerServer broker(int id) {
		return Objects.requireNonNull(this.kit.brokers().get(id));
	}

	/** Stops a broker. */
	public void stop(int id) {
		broker(id).shutdown(Duration.ofSeconds(5));
		broker(id).awaitShutdown();
	}

	/** Starts a broker again, on the port that it had. */
	public void start(int id) {
		broker(id).startup();
	}

	/**
	 * Creates a topic, and the topic of its dead letters, and waits for all replicas.
	 */
	public String newTopic(String name, int partitions) {
		String topic = name + "-" + this.topics.incrementAndGet();
		String deadLetters = topic + "-dlq";
		ask((admin) -> admin
			.createTopics(List.of(new NewTopic(topic, partitions, (short) -1),
					new NewTopic(deadLetters, partitions, (short) -1)))
			.all());
		awaitReplicas(topic);
		awaitReplicas(deadLetters);
		return topic;
	}

	/** Waits until all replicas of a topic are in sync. */
	public void awaitReplicas(String topic) {
		QueueApp.eventually()
			.atMost(Duration.ofMinutes(2))
			.ignoreExceptions()
			.until(() -> describe(topic).partitions()
				.stream()
				.allMatch((partition) -> partition.leader() != null
						&& partition.isr().size() == partition.replicas().size()));
	}

	private TopicDescription describe(String topic) {
		return Objects.requireNonNull(ask((admin) -> admin.describeTopics(List.of(topic)).allTopicNames()).get(topic));
	}

	/** Broker that leads a partition. */
	public int leader(String topic, int number) {
		return describe(topic).partitions()
			.stream()
			.filter((partition) -> partition.partition() == number)
			.map(TopicPartitionInfo::leader)
			.mapToInt(Node::id)
			.findFirst()
			.orElseThrow();
	}

	/** Broker that coordinates a group. */
	public int coordinator(String group) {
		return ask((admin) -> admin.describeConsumerGroups(List.of(group)).all()).values()
			.stream()
			.mapToInt((described) -> described.coordinator().id())
			.findFirst()
			.orElseThrow();
	}

	/** Sends numbers as text, to partitions in turn, and waits for the brokers. */
	public void send(String topic, int partitions, int count) {
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
				Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap()), new ByteArraySerializer(),
				new ByteArraySerializer())) {
			for (int i = 0; i < count; i++) {
				producer.send(new ProducerRecord<>(topic, i % partitions, null,
						Integer.toString(i).getBytes(StandardCharsets.UTF_8)));
			}
		}
		QueueApp.eventually().until(() -> records(topic) >= count);
	}

	/** Number of records in a topic. */
	public long records(String topic) {
		Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
		describe(topic).partitions()
			.forEach((partition) -> ends.put(new TopicPartition(topic, partition.partition()), OffsetSpec.latest()));
		return ask((admin) -> admin.listOffsets(ends).all()).values().stream().mapToLong((end) -> end.offset()).sum();
	}

	/** Sum of the offsets that a group has committed for all partitions of a topic. */
	public long committed(String group, String topic) {
		return ask((admin) -> admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).entrySet()
			.stream()
			.filter((entry) -> entry.getKey().topic().equals(topic))
			.mapToLong((entry) -> entry.getValue().offset())
			.sum();
	}

	@Override
	public void close() {
		Utils.closeQuietly(this.kit, "cluster of the test");
	}

}
