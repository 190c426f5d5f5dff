package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Broker;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The group that tells what is resolved gets a member before Kafka forgets its offsets.
 */
class ResolvedKeeperTests {

	private static final Instant NOW = Instant.parse("2026-11-01T00:00:00Z");

	private final Clients clients = new Clients(new AtomicInteger());

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
		assertThat(Broker.await(Broker.admin().describeConsumerGroups(Set.of(group)).all()).get(group))
			.satisfies((description) -> assertThat(description.groupState()).isEqualTo(GroupState.EMPTY));
		assertThat(Broker.committed(group, partition.topic(), 0)).isEqualTo(resolved);
	}

	@Test
	void groupWithoutOffsetsIsLeftAlone() {
		this.keeper.keep(new Lettered("nobody"), NOW);

		assertThat(this.clients.joined()).hasValue(0);
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

	private record Clients(AtomicInteger joined) implements JobClients {

		@Override
		public Consumer<byte[], byte[]> consumer(Map<String, Object> overrides) {
			this.joined.incrementAndGet();
			Map<String, Object> settings = new HashMap<>(overrides);
			settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap());
			settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
			return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
		}

		@Override
		public Producer<byte[], byte[]> producer() {
			throw new UnsupportedOperationException();
		}

		@Override
		public Admin admin() {
			return Broker.admin();
		}

	}

}
