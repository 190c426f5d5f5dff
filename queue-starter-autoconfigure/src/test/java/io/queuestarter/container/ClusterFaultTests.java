package io.queuestarter.container;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.testkit.Cluster;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.LetterBox;
import io.queuestarter.testkit.Load;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Stalls;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Brokers of a cluster of three go and come back, under a queue that works: the leader of
 * a partition, the coordinator of the group, two at once. Every record is settled, and
 * since the process keeps its partitions none of them runs again.
 */
@Tag("faults")
class ClusterFaultTests {

	private static final Logger LOGGER = LoggerFactory.getLogger(ClusterFaultTests.class);

	private static final int BROKERS = 3;

	private static final int PARTITIONS = 3;

	private static final int MAX_IN_FLIGHT = 8;

	private static Cluster cluster;

	@BeforeAll
	static void start() {
		cluster = Cluster.of(BROKERS, Map.of("min.insync.replicas", "2"));
	}

	@AfterAll
	static void stop() {
		cluster.close();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EAGER")
	void nothingIsLostWhenLeaderOrCoordinatorIsLost(Protocol protocol) {
		Stalls stalls = new Stalls();
		String topic = cluster.newTopic("brokers", PARTITIONS);
		Trial trial = Trial.in(topic);
		try (LetterBox letters = new LetterBox(cluster.bootstrap(), topic, trial.journal()); trial) {
			trial.journal().lookInto(letters::empty);
			trial.work((record) -> {
				stalls.begun();
				if (record.value().equals(Load.POISON)) {
					throw new IllegalArgumentException("Poison");
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
				return true;
			});
			QueueApp app = trial.start(settings(protocol));
			Trial.awaitPartitions(app, PARTITIONS);
			int rounds = Effort.of(1, 6);
			int sent;
			try (Load load = Load.poisoned(cluster.bootstrap(), topic, PARTITIONS, 300)) {
				for (int round = 0; round < rounds; round++) {
					lose(cluster.leader(topic, round % PARTITIONS), protocol + " leader", trial, stalls);
					lose(cluster.coordinator(topic), protocol + " coordinator", trial, stalls);
				}
				sent = load.stop();
			}

			assertThat(cluster.records(topic)).isEqualTo(sent);
			QueueApp.eventually().until(() -> trial.auditor().acknowledged() == sent);
			assertThat(cluster.committed(topic, topic)).as("committed").isEqualTo(sent);
			Trial.awaitQuiet(app);
			letters.empty();
			int again = trial.journal().repetitions();
			int mayRunAgain = trial.auditor().repeatable(MAX_IN_FLIGHT);
			stalls.report("cluster");
			LOGGER.info(
					"{}: {} brokers lost, {} revocations, {} records sent, 0 lost, {} run again of {} that might, "
							+ "{} dead letters, {} of them again, {} writes failed",
					protocol, 2 * rounds, trial.auditor().revocations(), sent, again, mayRunAgain, letters.records(),
					letters.duplicates(), Trial.queue(app).deadLetterFailures());
			assertThat(trial.journal().records() + letters.records()).as("settled").isEqualTo(sent);
			assertThat(trial.auditor().repeated()).as("run again though committed").isEmpty();
			assertThat(again).as("run again").isLessThanOrEqualTo(mayRunAgain);
			assertThat(letters.duplicates()).as("dead letters again")
				.isLessThanOrEqualTo((int) Trial.queue(app).deadLetterFailures() + again);
			assertThat(Trial.queue(app).state()).isEqualTo(QueueState.RUNNING);
		}
	}

	/**
	 * Until all is well again: replicas in sync, and everything sent so far committed.
	 */
	private static void lose(int broker, String kind, Trial trial, Stalls stalls) {
		String topic = trial.topic();
		AtomicLong end = new AtomicLong();
		stalls.around(kind, () -> {
			cluster.stop(broker);
			long sent = cluster.records(topic);
			QueueApp.eventually().until(() -> trial.auditor().acknowledged() >= sent);
		}, () -> {
			cluster.start(broker);
			end.set(cluster.records(topic));
		}, () -> trial.auditor().acknowledged() >= end.get());
		cluster.awaitReplicas(topic);
		cluster.awaitReplicas("__consumer_offsets");
	}

	/*
	 * Each partition begins with bad records, then good ones. They are handled when two
	 * brokers of three are gone, so that neither dead letters nor commits can be written.
	 */
	@Test
	void D3_deadLettersWaitWhileTooFewReplicasAreInSync() {
		int bad = 2;
		int good = 100;
		int sent = PARTITIONS * (bad + good);
		String topic = cluster.newTopic("replicas", PARTITIONS);
		Trial trial = Trial.in(topic);
		try (LetterBox letters = new LetterBox(cluster.bootstrap(), topic, trial.journal()); trial) {
			trial.journal().lookInto(letters::empty);
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				if (record.offset() < bad) {
					throw new IllegalArgumentException("Poison");
				}
				return true;
			});
			cluster.send(topic, PARTITIONS, sent);
			QueueApp app = trial.start(settings(Protocol.COOPERATIVE));
			Queue queue = Trial.queue(app);
			hold.awaitArrived(MAX_IN_FLIGHT);
			QueueApp.eventually().until(() -> queue.buffered() == sent - MAX_IN_FLIGHT);
			int left = cluster.leader(topic, 0);
			List<Integer> lost = IntStream.range(0, BROKERS).filter((broker) -> broker != left).boxed().toList();

			lost.forEach(cluster::stop);
			hold.release();

			trial.awaitHandled(PARTITIONS * good);
			QueueApp.eventually().until(() -> queue.deadLetterProblem() != null);
			assertThat(queue.deadLettersWaiting()).isEqualTo(PARTITIONS * bad);
			assertThat(queue.deadLettered()).isZero();
			assertThat(queue.state()).isEqualTo(QueueState.RUNNING);
			assertThat(queue.partitions()).allSatisfy((view) -> assertThat(view.watermark()).isZero());

			lost.forEach(cluster::start);

			QueueApp.eventually().atMost(Duration.ofMinutes(2)).until(() -> trial.auditor().acknowledged() == sent);
			assertThat(cluster.committed(topic, topic)).as("committed").isEqualTo(sent);
			letters.empty();
			assertThat(letters.records()).isEqualTo(PARTITIONS * bad);
			assertThat(letters.duplicates()).isLessThanOrEqualTo((int) queue.deadLetterFailures());
			assertThat(trial.journal().repetitions()).as("run again")
				.isLessThanOrEqualTo(trial.auditor().repeatable(MAX_IN_FLIGHT));
			LOGGER.info(
					"Two brokers lost: {} records sent, 0 lost, {} run again, {} dead letters, {} of them again, "
							+ "{} writes failed",
					sent, trial.journal().repetitions(), letters.records(), letters.duplicates(),
					queue.deadLetterFailures());
			Trial.awaitQuiet(app);
			assertThat(queue.deadLetterProblem()).isNull();
			cluster.awaitReplicas(topic);
		}
	}

	private static String[] settings(Protocol protocol) {
		return protocol.settings("spring.kafka.bootstrap-servers=" + cluster.bootstrap(),
				"spring.kafka.consumer.properties.request.timeout.ms=5000",
				"kafka-queue.listeners.trial.retry.local.max-attempts=1",
				"kafka-queue.listeners.trial.dispatch.max-in-flight=" + MAX_IN_FLIGHT);
	}

}
