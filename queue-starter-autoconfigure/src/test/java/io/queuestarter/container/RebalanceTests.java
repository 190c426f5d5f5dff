package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.ConsumerTap;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A second member of the group comes and goes, with each of Kafka's rebalance protocols,
 * while records are handled, held, or paused. Nothing is lost, what ended does not run
 * again, what is late of an earlier assignment counts for nothing, and partitions that
 * stay or come back go on.
 */
@Tag("threads")
class RebalanceTests {

	private static final String DRAIN = "kafka-queue.listeners.trial.shutdown.drain-timeout=";

	@ParameterizedTest
	@EnumSource
	void L5_nothingIsLostOrRepeatedWhileAMemberComesAndGoes(Protocol protocol) {
		int partitions = 6;
		int rounds = 4;
		int batch = 600;
		try (Trial trial = Trial.on("churn", partitions)) {
			trial.work((record) -> {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
				return true;
			});
			QueueApp staying = trial.start(protocol.settings("kafka-queue.listeners.trial.dispatch.max-in-flight=4"));
			QueueApp visiting = trial.start(protocol.settings("kafka-queue.listeners.trial.dispatch.max-in-flight=4"));
			MessageListenerContainer visitor = Trial.container(visiting);
			for (int round = 0; round < rounds; round++) {
				trial.send(partitions, batch);
				// A classic member that leaves before it has joined holds up its group.
				Trial.awaitPartitions(visiting, partitions / 2);
				visitor.stop();
				trial.send(partitions, batch);
				visitor.start();
			}

			trial.awaitAll(2 * rounds * batch);
			assertThat(trial.journal().duplicates()).as("duplicates").isZero();
			Trial.awaitQuiet(staying);
			Trial.awaitQuiet(visiting);
			assertThat(Trial.queue(staying).outcomes().abandonedCount()).as("attempts cut off").isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void L3_aLateResultOfAnEarlierAssignmentChangesNothing(Protocol protocol) {
		int partitions = 6;
		try (Trial trial = Trial.on("late", partitions)) {
			Hold first = new Hold();
			Hold again = new Hold();
			Set<String> begun = ConcurrentHashMap.newKeySet();
			trial.work((record) -> {
				if (begun.add(record.partition() + "@" + record.offset())) {
					first.awaitStubbornly();
					// Of no effect if the record was delivered again meanwhile.
					return trial.journal().starts(trial.partition(record.partition()), record.offset()) == 1;
				}
				again.awaitStubbornly();
				return true;
			});
			String[] settings = protocol.settings(DRAIN + "100ms");
			QueueApp staying = trial.start(settings);
			Trial.awaitPartitions(staying, partitions);
			trial.send(partitions, partitions);
			first.awaitArrived(partitions);

			QueueApp visiting = trial.start(settings);
			Trial.awaitPartitions(visiting, partitions / 2);
			again.awaitArrived(partitions / 2);
			visiting.close();
			Trial.awaitPartitions(staying, partitions);
			QueueApp.eventually()
				.until(() -> IntStream.range(0, partitions)
					.filter((
							partition) -> runsOf(trial, partition).stream().filter((run) -> run.app() == 0).count() > 1)
					.count() >= partitions / 2);
			List<Integer> redelivered = IntStream.range(0, partitions)
				.filter((partition) -> runsOf(trial, partition).size() > 1)
				.boxed()
				.toList();

			first.release();

			QueueApp.eventually().until(() -> Trial.queue(staying).outcomes().lateCount() >= redelivered.size());
			Awaitility.await()
				.during(Duration.ofMillis(300))
				.atMost(Duration.ofSeconds(5))
				.untilAsserted(() -> assertThat(redelivered)
					.allSatisfy((partition) -> assertThat(trial.committed(partition)).isLessThanOrEqualTo(0)));
			again.release();
			trial.awaitAll(partitions);
			Trial.awaitQuiet(staying);
			trial.send(partitions, 60);
			trial.awaitCommitted(60 + partitions);
		}
	}

	@Test
	void X31_keptPartitionsAreNotTouched() {
		try (Trial trial = Trial.on("kept", 4)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(4, 4);
			QueueApp staying = trial.start(DRAIN + "100ms");
			hold.awaitArrived(4);

			QueueApp joining = trial.start(DRAIN + "100ms");
			hold.awaitArrived(6);
			Trial.awaitPartitions(joining, 2);
			Trial.awaitPartitions(staying, 2);
			List<TopicPartition> kept = Trial.queue(staying)
				.partitions()
				.stream()
				.map(PartitionView::partition)
				.toList();

			assertThat(kept).allSatisfy((partition) -> assertThat(trial.journal().starts(partition, 0)).isOne());
			assertThat(Trial.queue(staying).outcomes().abandonedCount()).isEqualTo(2);
			hold.release();
			trial.awaitAll(4);
			assertThat(trial.journal().started()).hasSize(6);
			assertThat(trial.journal().duplicates()).isZero();
		}
	}

	@Test
	void partitionsMoveCooperativelyByDefault() {
		try (Trial trial = Trial.on("default", 1)) {
			QueueApp app = trial.start();
			Trial.awaitPartitions(app, 1);

			assertThat(Broker.await(Broker.admin().describeConsumerGroups(List.of(trial.topic())).all()).values())
				.singleElement()
				.satisfies((group) -> assertThat(group.partitionAssignor()).isEqualTo("cooperative-sticky"));
		}
	}

	@ParameterizedTest
	@EnumSource
	void X25_recordsInFlightEndWithinTheDrainAndAreCommittedBeforeThePartitionMoves(Protocol protocol) {
		try (Trial trial = Trial.on("moving", 2)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(2, 20);
			QueueApp staying = trial.start(protocol.settings());
			hold.awaitArrived(20);

			QueueApp joining = trial.start(protocol.settings());
			QueueApp.eventually().until(() -> trial.auditor().revocations() > 0);
			assertThat(trial.journal().finished()).isEmpty();
			hold.release();

			Trial.awaitPartitions(joining, 1);
			trial.awaitAll(20);
			assertThat(trial.journal().started()).hasSize(20);
		}
	}

	@ParameterizedTest
	@EnumSource
	void X17_whatEndedInTheMomentOfTheRevocationIsCommitted(Protocol protocol) {
		int partitions = 4;
		try (Trial trial = Trial.on("ended", partitions)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.tap(() -> revoking(() -> {
				hold.release();
				QueueApp.eventually()
					.pollInterval(Duration.ofMillis(1))
					.until(() -> trial.journal().finished().size() == partitions);
			}));
			String[] settings = protocol.settings("kafka-queue.listeners.trial.ledger.commit-interval=1m");
			trial.send(partitions, partitions);
			trial.start(settings);
			hold.awaitArrived(partitions);

			QueueApp joining = trial.start(settings);
			Trial.awaitPartitions(joining, partitions / 2);

			Collection<TopicPartition> moved = Trial.queue(joining)
				.partitions()
				.stream()
				.map(PartitionView::partition)
				.toList();
			assertThat(moved)
				.allSatisfy((partition) -> assertThat(trial.committed(partition.partition())).isEqualTo(1));
			assertThat(trial.journal().started()).hasSize(partitions);
		}
	}

	/** Runs a task at the beginning of each revocation, on the consumer thread. */
	private static ConsumerTap revoking(Runnable task) {
		return (call) -> {
			ConsumerRebalanceListener listener = call.argument(ConsumerRebalanceListener.class);
			if (listener != null) {
				call.replace(ConsumerRebalanceListener.class, new ConsumerRebalanceListener() {

					@Override
					public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
						listener.onPartitionsAssigned(partitions);
					}

					@Override
					public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
						if (!partitions.isEmpty()) {
							task.run();
						}
						listener.onPartitionsRevoked(partitions);
					}

					@Override
					public void onPartitionsLost(Collection<TopicPartition> partitions) {
						listener.onPartitionsLost(partitions);
					}

				});
			}
			return call.proceed();
		};
	}

	@ParameterizedTest
	@EnumSource
	void R3_partitionsPausedByABoundFetchAgainAfterTheyLeftAndCameBack(Protocol protocol) {
		int partitions = 4;
		try (Trial trial = Trial.on("bounded", partitions)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() == 0) {
					hold.await();
				}
				return true;
			});
			String[] settings = protocol.settings(DRAIN + "100ms", "kafka-queue.defaults.ledger.capacity=5",
					"spring.kafka.consumer.max-poll-records=3");
			trial.send(partitions, 400);
			QueueApp staying = trial.start(settings);
			awaitPaused(staying, partitions);

			QueueApp visiting = trial.start(settings);
			awaitPaused(visiting, partitions / 2);
			awaitPaused(staying, partitions / 2);
			Trial.container(visiting).stop();
			awaitPaused(staying, partitions);
			hold.release();

			trial.awaitAll(400);
			assertThat(trial.journal().duplicates()).isZero();
			Trial.awaitQuiet(staying);
		}
	}

	@ParameterizedTest
	@EnumSource
	void R3_anOperatorsPauseHoldsForKeptAndReturnedPartitionsUntilResumed(Protocol protocol) {
		int partitions = 4;
		try (Trial trial = Trial.on("paused", partitions)) {
			QueueApp staying = trial.start(protocol.settings());
			Trial.awaitPartitions(staying, partitions);
			Trial.container(staying).pause();
			QueueApp.eventually().until(() -> Trial.container(staying).isContainerPaused());
			QueueApp visiting = trial.start(protocol.settings());
			Trial.awaitPartitions(visiting, partitions / 2);
			Trial.container(visiting).stop();
			Trial.awaitPartitions(staying, partitions);

			trial.send(partitions, 40);

			Awaitility.await()
				.during(Duration.ofMillis(500))
				.atMost(Duration.ofSeconds(5))
				.untilAsserted(() -> assertThat(trial.journal().started()).isEmpty());
			assertThat(Trial.queue(staying).state()).isEqualTo(QueueState.PAUSED);
			Trial.container(staying).resume();
			trial.awaitAll(40);
			assertThat(trial.journal().started()).hasSize(40);
			assertThat(Trial.queue(staying).state()).isEqualTo(QueueState.RUNNING);
		}
	}

	private static void awaitPaused(QueueApp app, int partitions) {
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(Trial.queue(app).partitions()).hasSize(partitions)
				.allSatisfy((view) -> assertThat(view.paused()).isTrue()));
	}

	private static List<Journal.Run> runsOf(Trial trial, int partition) {
		return trial.journal()
			.started()
			.stream()
			.filter((run) -> run.partition().equals(trial.partition(partition)) && run.offset() == 0)
			.toList();
	}

}
