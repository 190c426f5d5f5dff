package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.mockito.AdditionalAnswers;

import io.queuestarter.testkit.Broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;

/**
 * What is resolved is committed again before Kafka forgets it.
 */
class ResolvedKeeperTests {

	private static final Instant NOW = Instant.parse("2026-11-01T00:00:00Z");

	private final Admin admin = mock(Admin.class, AdditionalAnswers.delegatesTo(Broker.admin()));

	private final ResolvedKeeper keeper = new ResolvedKeeper(new Clients(this.admin));

	@Test
	void sameOffsetsAreCommittedAgainTwiceADay() {
		String topic = Broker.newTopic("kept", 1);
		TopicPartition partition = new TopicPartition(topic + "-dlq", 0);
		Broker.createTopic(partition.topic(), 1, Map.of());
		Map<TopicPartition, OffsetAndMetadata> resolved = Map.of(partition, new OffsetAndMetadata(7, "resolved"));
		Broker.await(Broker.admin().alterConsumerGroupOffsets(topic + ".dlq", resolved).all());

		this.keeper.keep(new Lettered(topic), NOW);
		this.keeper.keep(new Lettered(topic), NOW.plus(Duration.ofHours(11)));
		then(this.admin).should().alterConsumerGroupOffsets(topic + ".dlq", resolved);
		this.keeper.keep(new Lettered(topic), NOW.plus(Duration.ofHours(13)));

		then(this.admin).should(times(2)).alterConsumerGroupOffsets(topic + ".dlq", resolved);
		assertThat(Broker.committed(topic + ".dlq", partition.topic(), 0)).isEqualTo(resolved.get(partition));
	}

	@Test
	void groupWithoutOffsetsIsLeftAlone() {
		this.keeper.keep(new Lettered("nobody"), NOW);

		then(this.admin).should(never()).alterConsumerGroupOffsets(any(), any());
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

	private record Clients(Admin admin) implements JobClients {

		@Override
		public Consumer<byte[], byte[]> consumer(Map<String, Object> overrides) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Producer<byte[], byte[]> producer() {
			throw new UnsupportedOperationException();
		}

	}

}
