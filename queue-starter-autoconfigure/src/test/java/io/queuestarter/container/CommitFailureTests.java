package io.queuestarter.container;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.queuestarter.testkit.ConsumerTap;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Commits fail: the broker answers with an error, the client refuses, a wake-up lands in
 * the last one. The queue goes on and commits again, and a record that ended does not run
 * again for it.
 */
@Tag("threads")
class CommitFailureTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void X11_aFailedCommitIsRepeatedWithoutNewRecords(boolean thrown) {
		try (Trial trial = Trial.on("failing", 1)) {
			Faults faults = new Faults();
			for (int i = 0; i < 5; i++) {
				faults.async.add(new RetriableCommitFailedException("Injected"));
				faults.async.add(new RebalanceInProgressException("Injected"));
			}
			faults.throwAsync = thrown;
			trial.tap(faults::tap);
			trial.send(1, 30);

			QueueApp app = trial.start();

			trial.awaitAll(30);
			assertThat(faults.async).isEmpty();
			assertThat(Trial.container(app).isRunning()).isTrue();
			assertThat(Trial.queue(app).state()).isEqualTo(QueueState.RUNNING);
			assertThat(trial.journal().started()).hasSize(30);
		}
	}

	@ParameterizedTest
	@MethodSource
	void L5_theLastCommitOfAStopIsRepeated(KafkaException error) {
		try (Trial trial = Trial.on("last", 1)) {
			Faults faults = new Faults();
			trial.tap(faults::tap);
			QueueApp app = trial.start("kafka-queue.listeners.trial.ledger.commit-interval=1m");
			trial.send(1, 30);
			trial.awaitHandled(30);
			QueueApp.eventually().until(() -> Trial.queue(app).inFlight() == 0);
			faults.sync.add(error);

			Trial.container(app).stop();

			assertThat(faults.sync).isEmpty();
			assertThat(trial.committed(0)).isEqualTo(30);
			Trial.container(app).start();
			trial.send(1, 1);
			trial.awaitHandled(31);
			assertThat(trial.journal().started()).hasSize(31);
		}
	}

	static List<KafkaException> L5_theLastCommitOfAStopIsRepeated() {
		return List.of(new WakeupException(), new RebalanceInProgressException("Injected"),
				new TimeoutException("Injected"));
	}

	@Test
	void L5_theLastCommitBeforeAPartitionMovesIsRepeated() {
		try (Trial trial = Trial.on("moved", 2)) {
			Faults faults = new Faults();
			trial.tap(faults::tap);
			String[] settings = { "kafka-queue.listeners.trial.ledger.commit-interval=1m",
					"spring.kafka.consumer.heartbeat-interval=100ms" };
			QueueApp staying = trial.start(settings);
			trial.send(2, 30);
			trial.awaitHandled(30);
			faults.sync.add(new TimeoutException("Injected"));

			QueueApp joining = trial.start(settings);

			Trial.awaitPartitions(joining, 1);
			trial.send(2, 30);
			trial.awaitHandled(60);
			assertThat(faults.sync).isEmpty();
			assertThat(trial.journal().started()).hasSize(60);
			assertThat(Trial.container(staying).isRunning()).isTrue();
		}
	}

	@Test
	void X13_commitsRefusedWhileTheGroupRebalancesAreMadeLater() {
		try (Trial trial = Trial.on("rebalancing", 2)) {
			Faults faults = new Faults();
			trial.tap(faults::tap);
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() == 15) {
					hold.await();
				}
				return true;
			});
			String[] settings = { "spring.kafka.consumer.heartbeat-interval=100ms" };
			QueueApp staying = trial.start(settings);
			faults.async.add(new RebalanceInProgressException("Injected"));
			trial.send(2, 30);
			trial.awaitAll(30);
			trial.send(2, 2);
			hold.awaitArrived(2);
			faults.sync.add(new RebalanceInProgressException("Injected"));

			QueueApp joining = trial.start(settings);
			QueueApp.eventually().until(() -> trial.auditor().revocations() > 0);
			hold.release();

			Trial.awaitPartitions(joining, 1);
			trial.send(2, 30);
			trial.awaitAll(62);
			assertThat(faults.async).isEmpty();
			assertThat(faults.sync).isEmpty();
			assertThat(trial.journal().started()).hasSize(62);
			assertThat(Trial.queue(staying).state()).isEqualTo(QueueState.RUNNING);
			assertThat(Trial.queue(staying).commitProblem()).isNull();
		}
	}

	@Test
	void aCommitThatFailsForGoodCostsDuplicatesOnly() {
		try (Trial trial = Trial.on("refused", 1)) {
			Faults faults = new Faults();
			trial.tap(faults::tap);
			QueueApp app = trial.start("kafka-queue.listeners.trial.ledger.commit-interval=1m");
			trial.send(1, 30);
			trial.awaitHandled(30);
			faults.sync.add(new CommitFailedException("Injected"));

			Trial.container(app).stop();
			assertThat(trial.committed(0)).isEqualTo(-1);
			Trial.container(app).start();
			QueueApp.eventually().until(() -> trial.journal().started().size() == 60);
			Trial.container(app).stop();

			assertThat(trial.committed(0)).isEqualTo(30);
		}
	}

	/** An answer that never comes is not taken for a success. */
	@Test
	void aCommitWithoutAnAnswerIsMadeAgainWhenTheQueueStops() {
		try (Trial trial = Trial.on("silent", 1)) {
			AtomicInteger swallowed = new AtomicInteger();
			trial.tap(() -> (call) -> {
				if (call.name().equals("commitAsync")) {
					swallowed.incrementAndGet();
					return null;
				}
				return call.proceed();
			});
			QueueApp app = trial.start();
			trial.send(1, 30);
			trial.awaitHandled(30);
			QueueApp.eventually().until(() -> swallowed.get() > 0);

			Trial.container(app).stop();

			assertThat(trial.committed(0)).isEqualTo(30);
			assertThat(swallowed).hasValue(1);
		}
	}

	/**
	 * Lets the next commits fail. An asynchronous one tells its callback in a later poll.
	 */
	private static final class Faults {

		private final Queue<KafkaException> async = new ConcurrentLinkedQueue<>();

		private final Queue<KafkaException> sync = new ConcurrentLinkedQueue<>();

		private volatile boolean throwAsync;

		ConsumerTap tap() {
			Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
			return (call) -> switch (call.name()) {
				case "commitAsync" -> commitAsync(call, callbacks);
				case "commitSync" -> orThrow(this.sync.poll(), call::proceed);
				case "poll" -> {
					for (Runnable callback = callbacks.poll(); callback != null; callback = callbacks.poll()) {
						callback.run();
					}
					yield call.proceed();
				}
				default -> call.proceed();
			};
		}

		@SuppressWarnings("unchecked")
		private @Nullable Object commitAsync(ConsumerTap.Call call, Queue<Runnable> callbacks) throws Throwable {
			KafkaException error = this.async.poll();
			if (error == null || this.throwAsync) {
				return orThrow(error, call::proceed);
			}
			OffsetCommitCallback callback = call.argument(OffsetCommitCallback.class);
			Map<TopicPartition, OffsetAndMetadata> offsets = call.argument(Map.class);
			if (callback != null) {
				callbacks.add(() -> callback.onComplete(offsets, error));
			}
			return null;
		}

		private static @Nullable Object orThrow(@Nullable KafkaException error, Proceeding proceeding)
				throws Throwable {
			if (error != null) {
				throw error;
			}
			return proceeding.proceed();
		}

		private interface Proceeding {

			@Nullable Object proceed() throws Throwable;

		}

	}

}
