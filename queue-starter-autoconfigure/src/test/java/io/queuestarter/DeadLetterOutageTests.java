package io.queuestarter;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

import io.queuestarter.container.Queue;
import io.queuestarter.observe.QueuesHealth;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Dead letters that cannot be written. Among 100 good records lie five that fail, and the
 * dead-letter topic does not take them. The offset of the first is never committed, the
 * good ones are settled and stay settled over a restart, the problem is visible, one
 * error is logged per back-off; and when the topic is repaired the five are written
 * without a restart.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeadLetterOutageTests {

	private static final int FIRST_BAD = 30;

	@Test
	void D3_missingDeadLetterTopicHoldsItsRecordsUntilItIsCreated(CapturedOutput output) {
		String topic = Broker.newTopic("outage-missing", 1);
		send(topic, Broker.bootstrap());

		try (QueueApp app = app(topic, Broker.bootstrap()).start()) {
			awaitOutage(app, 5, FIRST_BAD);
			QueueApp.eventually().until(() -> errors(output, topic) == 2);

			assertThat(app.queue("outage").deadLetterProblem()).contains("'" + topic + "-dlq' does not exist");
			assertThat(output).contains("Records of queue 'outage' that fail will be held: Dead-letter topic '" + topic
					+ "-dlq' does not exist. Create it with 1 partitions");
			assertThat(Broker.committedOffset("outage", topic, 0)).isLessThanOrEqualTo(FIRST_BAD);
			assertThat(app.queue("outage").deadLetterFailures()).isLessThanOrEqualTo(errors(output, topic));
		}

		try (QueueApp app = app(topic, Broker.bootstrap()).start()) {
			awaitOutage(app, 5, FIRST_BAD);
			assertThat(app.bean(Failing.class).calls.keySet()).containsExactlyInAnyOrder("bad0", "bad1", "bad2", "bad3",
					"bad4");

			Broker.createTopic(topic + "-dlq", 1, Map.of());
			List<DeadLetter> letters = DeadLetter.await(topic, 5);
			QueueApp.eventually().until(() -> Broker.committedOffset("outage", topic, 0) == 105);

			assertThat(letters).extracting(DeadLetter::value)
				.containsExactlyInAnyOrder("bad0", "bad1", "bad2", "bad3", "bad4");
			assertRepaired(app, 5);
		}
	}

	/*
	 * The broker's answer is one that the producer itself repeats until its delivery
	 * times out, as it would with too few replicas.
	 */
	@Test
	void D3_topicThatGoesAwayHoldsRecordsUntilItIsBack(CapturedOutput output) {
		String topic = Broker.newTopic("outage-deleted", 1);
		Broker.createTopic(topic + "-dlq", 1, Map.of());
		Broker.send(topic, null, "bad");

		try (QueueApp app = app(topic, Broker.bootstrap()).start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset("outage", topic, 0) == 1);
			Broker.await(Broker.admin().deleteTopics(List.of(topic + "-dlq")).all());
			send(topic, Broker.bootstrap());
			awaitOutage(app, 100, 1 + FIRST_BAD);

			assertThat(app.queue("outage").deadLettered()).isOne();
			assertThat(Broker.committedOffset("outage", topic, 0)).isLessThanOrEqualTo(1 + FIRST_BAD);
			assertThat(errors(output, topic)).isOne();

			Broker.createTopic(topic + "-dlq", 1, Map.of());
			List<DeadLetter> letters = DeadLetter.await(topic, 5);
			QueueApp.eventually().until(() -> Broker.committedOffset("outage", topic, 0) == 106);

			assertThat(letters).hasSize(5);
			assertRepaired(app, 6);
		}
	}

	/*
	 * Everybody is the same principal here. What it may not do: write to the topic, and
	 * in the second round also get a producer id, which is what an application meets that
	 * was never given the right to write anything.
	 */
	@Test
	void D3_deniedWriteHoldsRecordsUntilItIsAllowed(CapturedOutput output) {
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		broker
			.brokerProperties(Map.of("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
					"allow.everyone.if.no.acl.found", "true", "auto.create.topics.enable", "false",
					"group.initial.rebalance.delay.ms", "0", "offsets.topic.num.partitions", "1"));
		broker.brokerListProperty("queuestarter.test.guarded-brokers");
		broker.afterPropertiesSet();
		try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.getBrokersAsString()))) {
			denied("outage-topic", admin, broker, output,
					List.of(acl(ResourceType.TOPIC, "outage-topic-dlq", AclOperation.ALL, AclPermissionType.ALLOW),
							acl(ResourceType.TOPIC, "outage-topic-dlq", AclOperation.WRITE, AclPermissionType.DENY)));
			denied("outage-all", admin, broker, output, List.of(
					acl(ResourceType.TOPIC, "*", AclOperation.ALL, AclPermissionType.ALLOW),
					acl(ResourceType.TOPIC, "*", AclOperation.WRITE, AclPermissionType.DENY),
					acl(ResourceType.CLUSTER, "kafka-cluster", AclOperation.ALL, AclPermissionType.ALLOW),
					acl(ResourceType.CLUSTER, "kafka-cluster", AclOperation.IDEMPOTENT_WRITE, AclPermissionType.DENY)));
		}
		finally {
			broker.destroy();
		}
	}

	private static void denied(String topic, Admin admin, EmbeddedKafkaKraftBroker broker, CapturedOutput output,
			Collection<AclBinding> acls) {
		Broker.await(admin
			.createTopics(List.of(new NewTopic(topic, 1, (short) 1), new NewTopic(topic + "-dlq", 1, (short) 1)))
			.all());
		send(topic, broker.getBrokersAsString());
		Broker.await(admin.createAcls(acls).all());

		try (QueueApp app = app(topic, broker.getBrokersAsString()).start()) {
			awaitOutage(app, 100, FIRST_BAD);

			assertThat(committed(admin, topic)).isLessThanOrEqualTo(FIRST_BAD);
			assertThat(output).contains("Dead-letter topic '" + topic + "-dlq' may not be written");

			Broker.await(admin.deleteAcls(acls.stream().map(AclBinding::toFilter).toList()).all());
			QueueApp.eventually().until(() -> committed(admin, topic) == 105);

			assertThat(Broker
				.await(admin.listOffsets(Map.of(new TopicPartition(topic + "-dlq", 0), OffsetSpec.latest()))
					.partitionResult(new TopicPartition(topic + "-dlq", 0)))
				.offset()).isEqualTo(5);
			assertRepaired(app, 5);
		}
	}

	private static AclBinding acl(ResourceType type, String name, AclOperation operation,
			AclPermissionType permission) {
		return new AclBinding(new ResourcePattern(type, name, PatternType.LITERAL),
				new AccessControlEntry("User:ANONYMOUS", "*", operation, permission));
	}

	private static long committed(Admin admin, String topic) {
		OffsetAndMetadata committed = Broker
			.await(admin.listConsumerGroupOffsets("outage").partitionsToOffsetAndMetadata())
			.get(new TopicPartition(topic, 0));
		return (committed != null) ? committed.offset() : -1;
	}

	private static QueueApp.Builder app(String topic, String bootstrap) {
		return QueueApp.of(Failing.class)
			.with("topic", topic)
			.with("spring.kafka.bootstrap-servers", bootstrap)
			.with("kafka-queue.defaults.shutdown.drain-timeout", "500ms")
			.with("kafka-queue.defaults.dlq.create", "false");
	}

	private static void send(String topic, String bootstrap) {
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap),
				new ByteArraySerializer(), new ByteArraySerializer())) {
			for (int i = 0; i < 105; i++) {
				String value = (i >= FIRST_BAD && i < FIRST_BAD + 5) ? "bad" + (i - FIRST_BAD) : "good" + i;
				producer.send(new ProducerRecord<>(topic, 0, null, Broker.bytes(value)));
			}
		}
	}

	/** Waits until the good records are settled and the bad ones held. */
	private static void awaitOutage(QueueApp app, int calls, int firstBad) {
		Queue queue = app.queue("outage");
		QueueApp.eventually().until(() -> app.bean(Failing.class).calls.size() >= calls);
		QueueApp.eventually().until(() -> queue.deadLettersWaiting() == 5 && queue.deadLetterProblem() != null);
		QueueApp.eventually().until(() -> queue.inFlight() == 0);
		QueueApp.eventually()
			.until(() -> queue.partitions()
				.stream()
				.anyMatch((partition) -> partition.outstanding() == 5 && partition.committed() == firstBad));
		assertThat(health(app).getDetails()).containsEntry("deadLetterProblem", queue.deadLetterProblem())
			.containsEntry("deadLettersWaiting", 5);
	}

	private static void assertRepaired(QueueApp app, int deadLettered) {
		Queue queue = app.queue("outage");
		QueueApp.eventually().until(() -> queue.deadLettersWaiting() == 0);
		assertThat(queue.deadLetterProblem()).isNull();
		assertThat(queue.deadLettered()).isEqualTo(deadLettered);
		assertThat(health(app).getDetails()).doesNotContainKey("deadLetterProblem");
		assertThat(app.bean(Failing.class).calls.values()).containsOnly(1);
	}

	private static Health health(QueueApp app) {
		HealthIndicator indicator = (HealthIndicator) app.bean(QueuesHealth.class).getContributor("outage");
		assertThat(indicator).isNotNull();
		Health health = indicator.health();
		assertThat(health).isNotNull();
		return health;
	}

	private static long errors(CapturedOutput output, String topic) {
		return output.toString()
			.lines()
			.filter((line) -> line.contains("could not be written to '" + topic + "-dlq'"))
			.count();
	}

	static class Failing {

		final Map<String, Integer> calls = new ConcurrentHashMap<>();

		@QueueListener(id = "outage", topics = "${topic}", groupId = "outage", maxAttempts = "1")
		void handle(String value) {
			this.calls.merge(value, 1, Integer::sum);
			if (value.startsWith("bad")) {
				throw new IllegalStateException(value);
			}
		}

	}

}
