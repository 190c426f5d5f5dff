package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Cluster;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The group that tells what is resolved gets a member before Kafka forgets its offsets.
 */
class ResolvedKeeperTests {

	private static final Instant NOW = Instant.parse("2026-11-01T00:00:00Z");

	private final Clients clients = new Clients(new AtomicInteger(), Broker.bootstrap(), Broker.admin());

	private final ResolvedKeeper keeper = new ResolvedKeeper(this.clients, "1@host");

	@Test
	void groupHasAMemberForAMomentTwiceADayAndKeepsItsOffsets() {
		String topic = Broker.newTopic("kept", 1);
		String group = topic + ".dlq";
		TopicPartition partition = new TopicPartition(topic + "-dlq", 0);
		Broker.createTopic(partition.topic(), 1, Map.of());
		OffsetAndMetadata resolved = new OffsetAndMetadata(7, "resolved");
		Broker.await(Broker.admin().alterConsumerGroupOffsets(group, Map.of(partition, resolved)).all());

		this.keeper.keep(new Lettered(topic), NOW);
		this.keeper.keep(new Lettered(topic), NOW.plus(Duration.ofHours(11)));
		assertThat(this.clients.joined()).hasValue(1);
		this.keeper.keep(new Lettered(topic), NOW.plus(Duration.ofHours(13)));

		assertThat(this.clients.joined()).hasValue(2);
		// Of a group that never had a member it is empty.
		assertThat(Broker.await(Broker.admin().listGroups().all()))
			.filteredOn((listed) -> listed.groupId().equals(group))
			.singleElement()
			.satisfies((listed) -> assertThat(listed.protocol()).isEqualTo("consumer"));
		assertThat(Broker.await(Broker.admin().describeConsumerGroups(Set.of(group)).all()).get(group))
			.satisfies((description) -> assertThat(description.groupState()).isEqualTo(GroupState.EMPTY));
		assertThat(Broker.committed(group, partition.topic(), 0)).isEqualTo(resolved);
	}

	@Test
	void groupWithoutOffsetsIsLeftAlone() {
		this.keeper.keep(new Lettered("nobody"), NOW);

		assertThat(this.clients.joined()).hasValue(0);
	}

	/**
	 * Whatever is committed there of old counts from when the last member left, but for
	 * topics that no member subscribes to.
	 */
	@Test
	@Tag("faults")
	@Tag("minutes")
	void offsetsOutliveTheirRetention() {
		try (Cluster cluster = Cluster.of(1,
				Map.of("offsets.retention.minutes", "1", "offsets.retention.check.interval.ms", "500"));
				Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, cluster.bootstrap()))) {
			String topic = cluster.newTopic("old", 1);
			String other = cluster.newTopic("other", 1);
			Map<TopicPartition, OffsetAndMetadata> resolved = Map.of(new TopicPartition(topic + "-dlq", 0),
					new OffsetAndMetadata(0, "resolved"), new TopicPartition(other + "-dlq", 0),
					new OffsetAndMetadata(0, "resolved"));
			ResolvedKeeper itsKeeper = new ResolvedKeeper(new Clients(new AtomicInteger(), cluster.bootstrap(), admin),
					"1@host");
			AtomicReference<Instant> now = new AtomicReference<>(NOW);
			cluster.ask((client) -> client.alterConsumerGroupOffsets(topic + ".dlq", resolved).all());

			// Twice, so that each is older than its retention when a member is there.
			for (String forgotten : List.of("first", "second")) {
				cluster.ask((client) -> client.alterConsumerGroupOffsets(forgotten, resolved).all());
				Awaitility.await().atMost(Duration.ofMinutes(3)).pollInterval(Duration.ofSeconds(10)).until(() -> {
					itsKeeper.keep(new Lettered(topic),
							now.updateAndGet((before) -> before.plus(Duration.ofHours(13))));
					return committed(cluster, forgotten).isEmpty();
				});
			}

			assertThat(committed(cluster, topic + ".dlq")).isEqualTo(resolved);
		}
	}

	private static Map<TopicPartition, OffsetAndMetadata> committed(Cluster cluster, String group) {
		return cluster.ask((client) -> client.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
	}

	private record Lettered(String group) implements JobQueue {

		@Override
		public String id() {
			return "lettered";
		}

		@Override
		public Set<String> deadLetterTopics() {
			return Set.of(this.group + "-dlq");
		}

		@Override
		public boolean isSource(String topic) {
			return true;
		}

		@Override
		public Redelivery redelivery() {
			throw new UnsupportedOperationException();
		}

	}

	private record Clients(AtomicInteger joined, String bootstrap, Admin admin) implements JobClients {

		@Override
		public Consumer<byte[], byte[]> consumer(Map<String, Object> overrides) {
			this.joined.incrementAndGet();
			Map<String, Object> settings = new HashMap<>(overrides);
			settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, this.bootstrap);
			settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
			return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
		}

		@Override
		public Producer<byte[], byte[]> producer() {
			throw new UnsupportedOperationException();
		}

	}

}
