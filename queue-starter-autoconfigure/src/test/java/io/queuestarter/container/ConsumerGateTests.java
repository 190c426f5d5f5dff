package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.queuestarter.Ordering;
import io.queuestarter.blockage.BlockageRule;
import io.queuestarter.container.QueueSettings.DeadLetterTopic;
import io.queuestarter.container.QueueSettings.Retry;
import io.queuestarter.container.QueueSettings.Timeouts;
import io.queuestarter.container.QueueSettings.Workers;
import io.queuestarter.deadletter.TooLarge;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.intake.IntakeLimits;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.settle.ExceptionPolicy;
import io.queuestarter.settle.Routes.Aside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The gate over a consumer that the test scripts, without a broker: what the container
 * may do to the consumer, and what becomes of records that it does not hand over.
 */
class ConsumerGateTests {

	private static final TopicPartition P0 = new TopicPartition("orders", 0);

	private static final TopicPartition P1 = new TopicPartition("orders", 1);

	private final ScriptedConsumer kafka = new ScriptedConsumer();

	private final QueueRuntime runtime = new QueueRuntime(TimeSource.SYSTEM, Map.of("bootstrap.servers", "localhost:1"),
			Map.of(), (settings) -> (source, topic, kind) -> {
			}, CircuitBreakerRegistry.ofDefaults(), null);

	private final Queue queue = new Queue(settings(), "group", List.of("orders"), this.runtime);

	private final Consumer<byte[], byte[]> consumer = this.queue.gate(this.kafka);

	@AfterEach
	void close() {
		this.consumer.close();
		this.queue.close();
		this.runtime.close();
	}

	@Test
	void recordsThatAreNotHandedOverAreFetchedAgain() {
		assign(P0);
		send(P0, 0, 3);
		assertThat(poll()).hasSize(3);

		send(P0, 0, 3);
		ConsumerRecords<byte[], byte[]> again = this.consumer.poll(Duration.ZERO);

		assertThat(again).extracting(ConsumerRecord::offset).containsExactly(0L, 1L, 2L);
	}

	@Test
	void pollThatCannotBeTakenOverIsFetchedAgainAsAWhole() {
		assign(P0);
		send(P0, 0, 2);
		ConsumerRecords<byte[], byte[]> mine = this.consumer.poll(Duration.ZERO);
		ConsumerRecords<byte[], byte[]> withForeign = new ConsumerRecords<>(
				Map.of(P0, mine.records(P0), P1, List.of(new ConsumerRecord<>("orders", 1, 0, null, null))), Map.of());

		assertThatIllegalStateException().isThrownBy(() -> ((GatedConsumer) this.consumer).gate().accept(withForeign));
		send(P0, 0, 2);

		assertThat(poll()).extracting(ConsumerRecord::offset).containsExactly(0L, 1L);
	}

	@Test
	void containerSeesAndUndoesOnlyItsOwnPauses() {
		assign(P0, P1);
		this.consumer.pause(List.of(P0));
		this.kafka.pause(List.of(P1));

		assertThat(this.consumer.paused()).containsExactly(P0);
		this.consumer.poll(Duration.ZERO);

		assertThat(this.kafka.paused()).containsExactly(P0);
		this.consumer.resume(List.of(P0));
		assertThat(this.kafka.paused()).isEmpty();
	}

	/*
	 * With the consumer protocol the client tells of a loss before it gives the
	 * partitions up.
	 */
	@Test
	void recordsOfPartitionsThatWereLostAreNotHandedOver() {
		assign(P0, P1);
		send(P0, 0, 2);
		send(P1, 0, 2);
		this.kafka.schedulePollTask(() -> this.kafka.listener().onPartitionsLost(List.of(P0)));

		ConsumerRecords<byte[], byte[]> first = poll();
		send(P0, 2, 1);
		ConsumerRecords<byte[], byte[]> second = poll();

		assertThat(first.partitions()).containsExactly(P1);
		assertThat(first.nextOffsets()).containsOnlyKeys(P1);
		assertThat(second).isEmpty();
	}

	@Test
	void recordsOfPartitionsThatCameBackAreHandedOver() {
		assign(P0);
		this.kafka.rebalance(List.of());
		this.kafka.rebalance(List.of(P0));
		send(P0, 0, 2);

		assertThat(poll()).hasSize(2);
	}

	@Test
	void X32_partitionThatIsTakenAwayWhileItIsPausedDisturbsNobody() {
		assign(P0, P1);
		this.kafka.taken = P0;

		this.consumer.pause(List.of(P0, P1));
		this.consumer.poll(Duration.ZERO);
		this.kafka.taken = null;
		this.consumer.poll(Duration.ZERO);

		assertThat(this.kafka.paused()).containsExactlyInAnyOrder(P0, P1);
		this.kafka.taken = P0;
		this.consumer.resume(List.of(P0, P1));
		this.kafka.taken = null;
		this.consumer.poll(Duration.ZERO);
		assertThat(this.kafka.paused()).isEmpty();
	}

	@Test
	void nobodyElseCommits() {
		assign(P0);

		assertThatIllegalStateException().isThrownBy(this.consumer::commitSync)
			.withMessageContaining("Only the ledger of queue 'gate' commits");
		assertThatIllegalStateException().isThrownBy(this.consumer::commitAsync);
	}

	@Test
	void consumerIsClosedThoughGivingUpItsPartitionsFails() {
		assign(P0);
		send(P0, 0, 1);
		((GatedConsumer) this.consumer).gate().accept(this.consumer.poll(Duration.ZERO));
		this.kafka.setOffsetsException(new org.apache.kafka.common.KafkaException("no offsets"));

		this.consumer.close();

		assertThat(this.kafka.closed()).isTrue();
		assertThat(this.queue.partitions()).isEmpty();
	}

	private ConsumerRecords<byte[], byte[]> poll() {
		return this.consumer.poll(Duration.ZERO);
	}

	private void assign(TopicPartition... partitions) {
		this.consumer.subscribe(List.of("orders"), new ConsumerRebalanceListener() {

			@Override
			public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
			}

			@Override
			public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
			}

		});
		this.kafka.rebalance(List.of(partitions));
		for (TopicPartition partition : partitions) {
			this.kafka.updateBeginningOffsets(Map.of(partition, 0L));
			this.kafka.updateEndOffsets(Map.of(partition, 0L));
		}
	}

	private void send(TopicPartition partition, long from, int count) {
		for (long offset = from; offset < from + count; offset++) {
			this.kafka.addRecord(
					new ConsumerRecord<>(partition.topic(), partition.partition(), offset, null, new byte[] { 1 }));
		}
	}

	private static QueueSettings settings() {
		return new QueueSettings("gate", null, Ordering.UNORDERED, new Workers(false, 1, 1),
				new IntakeLimits(100, 100, 1 << 20, 100, 1 << 20),
				new Timeouts(new AttemptTimeout(Duration.ofSeconds(30), 1, Duration.ofSeconds(30)), 3, Duration.ZERO),
				new OutageSettings(false, "gate", null, Duration.ofMinutes(5), 1, Duration.ZERO),
				new BlockageRule(false, 0.9, 0.98, 10, Duration.ofMinutes(5), 10), Aside.DLQ,
				new Retry(3, Duration.ZERO, 1, Duration.ZERO, List.of(), null), ExceptionPolicy.RETRY_ALL,
				Duration.ofSeconds(1), new DeadLetterTopic(false, "{topic}-dlq", false, TooLarge.HOLD), Duration.ZERO,
				LaneSettings.NONE, Map.of());
	}

	/** Tells who listens to rebalances, and denies that a partition is assigned. */
	private static final class ScriptedConsumer extends MockConsumer<byte[], byte[]> {

		private @Nullable ConsumerRebalanceListener listener;

		private @Nullable TopicPartition taken;

		ScriptedConsumer() {
			super("earliest");
		}

		ConsumerRebalanceListener listener() {
			return Objects.requireNonNull(this.listener);
		}

		@Override
		public synchronized void subscribe(Collection<String> topics, ConsumerRebalanceListener rebalanceListener) {
			this.listener = rebalanceListener;
			super.subscribe(topics, rebalanceListener);
		}

		@Override
		public synchronized void pause(Collection<TopicPartition> partitions) {
			refuseTaken(partitions);
			super.pause(partitions);
		}

		@Override
		public synchronized void resume(Collection<TopicPartition> partitions) {
			refuseTaken(partitions);
			super.resume(partitions);
		}

		private void refuseTaken(Collection<TopicPartition> partitions) {
			if (this.taken != null && partitions.contains(this.taken)) {
				throw new IllegalStateException("No current assignment for partition " + this.taken);
			}
		}

	}

}
