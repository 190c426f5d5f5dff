package io.queuestarter.container;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.ConsumerTap;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A queue is stopped while it works: between poll and hand-over, while handlers run, in
 * back-off, while a dead letter is written, in the middle of a rebalance. After a
 * graceful stop whatever ended is committed, whatever did not start is let go, and the
 * next start runs exactly the rest.
 */
@Tag("threads")
@ExtendWith(OutputCaptureExtension.class)
class StopTests {

	private static final String CLASSIC = "spring.kafka.consumer.properties.group.protocol=classic";

	private static final String CONSUMER = "spring.kafka.consumer.properties.group.protocol=consumer";

	@ParameterizedTest
	@ValueSource(strings = { CLASSIC, CONSUMER })
	void L4_nothingThatEndedRunsAgainAfterAGracefulStop(String protocol) throws Exception {
		long seed = Long.getLong("seed", System.nanoTime());
		Random random = new Random(seed);
		try (Trial trial = Trial.on("cycles", 1)) {
			Semaphore polled = new Semaphore(0);
			trial.tap(() -> (call) -> {
				Object result = call.proceed();
				if (result instanceof ConsumerRecords<?, ?> records && !records.isEmpty()) {
					polled.release();
				}
				return result;
			});
			trial.work((record) -> {
				LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(200));
				return true;
			});
			QueueApp app = trial.start(protocol, "kafka-queue.defaults.dispatch.max-in-flight=2",
					"kafka-queue.listeners.trial.ledger.commit-interval=10ms",
					"spring.kafka.consumer.max-poll-records=20", "spring.kafka.consumer.fetch-max-wait=50ms");
			MessageListenerContainer container = Trial.container(app);
			container.stop();

			for (int cycle = 0; cycle < 40; cycle++) {
				trial.send(1, 50);
				polled.drainPermits();
				container.start();
				assertThat(polled.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
				LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(50_000)));
				container.stop();

				assertThat(Trial.queue(app).inFlight()).as("in flight, seed %d", seed).isZero();
				assertThat(Math.max(0, trial.committed(0))).as("committed in cycle %d, seed %d", cycle, seed)
					.isEqualTo(trial.journal().watermark(trial.partition(0)));
				assertThat(trial.journal().started()).as("seed %d", seed).doesNotHaveDuplicates();
			}
			container.start();

			trial.awaitAll(2000);
			assertThat(trial.journal().started()).as("seed %d", seed).hasSize(2000).doesNotHaveDuplicates();
		}
	}

	@Test
	void R1_runningRecordsEndAndAreCommittedBeforeStopReturnsWhileBufferedOnesAreLetGo() {
		try (Trial trial = Trial.on("graceful", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				hold.await();
				return true;
			});
			trial.send(1, 208);
			QueueApp app = trial.start("kafka-queue.defaults.dispatch.max-in-flight=8");
			hold.awaitArrived(8);
			QueueApp.eventually().until(() -> Trial.queue(app).buffered() == 200);

			CompletableFuture<Void> closed = aside(app::close);
			awaitDraining(app);
			assertThat(closed).isNotDone();
			hold.release();
			closed.orTimeout(10, TimeUnit.SECONDS).join();

			assertThat(trial.committed(0)).isEqualTo(8);
			assertThat(trial.journal().finished()).hasSize(8);
			trial.start();
			trial.awaitAll(208);
			assertThat(trial.journal().started()).hasSize(208);
		}
	}

	@Test
	void R1_stopDoesNotWaitLongerThanTheDrainAndIgnoresWhatComesLater() {
		try (Trial trial = Trial.on("stubborn", 1)) {
			Hold hold = new Hold();
			AtomicBoolean interrupted = new AtomicBoolean();
			trial.work((record) -> {
				try {
					hold.await();
				}
				catch (InterruptedException ex) {
					interrupted.set(true);
					hold.awaitStubbornly();
				}
				return false;
			});
			trial.send(1, 1);
			QueueApp app = trial.start("kafka-queue.defaults.shutdown.drain-timeout=500ms");
			hold.awaitArrived(1);

			Instant begin = Instant.now();
			Trial.container(app).stop();

			assertThat(Duration.between(begin, Instant.now())).isBetween(Duration.ofMillis(500), Duration.ofSeconds(3));
			QueueApp.eventually().untilTrue(interrupted);
			assertThat(Trial.queue(app).state()).isEqualTo(QueueState.STOPPED);
			hold.release();
			QueueApp.eventually().until(() -> Trial.queue(app).outcomes().lateCount() == 1);
			assertThat(trial.committed(0)).isLessThanOrEqualTo(0);
			trial.work((record) -> true);
			Trial.container(app).start();
			trial.awaitAll(1);
			assertThat(trial.journal().started()).hasSize(2);
		}
	}

	@Test
	void R2_poolAndDeadLetterProducerOutliveTheDrain(CapturedOutput output) {
		try (Trial trial = Trial.on("outlived", 1)) {
			AtomicBoolean early = new AtomicBoolean();
			trial.tap(() -> noting(early, new TopicPartition(trial.topic() + "-dlq", 0)));
			trial.prepare((context) -> context.registerBean(Pool.class));
			CompletableFuture<Pool> pool = new CompletableFuture<>();
			Hold third = new Hold();
			trial.work((record) -> {
				if (trial.journal().starts(trial.partition(0), 0) == 3) {
					third.await();
				}
				pool.join().use();
				throw new IllegalArgumentException("Handler failed");
			});
			QueueApp app = trial.start("kafka-queue.defaults.retry.local.max-attempts=3",
					"kafka-queue.defaults.retry.local.initial-interval=1ms");
			pool.complete(app.bean(Pool.class));
			trial.send(1, 1);
			third.awaitArrived(1);

			CompletableFuture<Void> closed = aside(app::close);
			awaitDraining(app);
			trial.journal().settle(trial.partition(0), 0);
			third.release();
			closed.orTimeout(20, TimeUnit.SECONDS).join();

			List<ConsumerRecord<byte[], byte[]>> dead = Broker.records(trial.topic() + "-dlq");
			assertThat(dead).singleElement()
				.satisfies((letter) -> assertThat(letter.headers().lastHeader(KafkaHeaders.DLT_EXCEPTION_FQCN).value())
					.asString(StandardCharsets.UTF_8)
					.isEqualTo(IllegalArgumentException.class.getName()));
			assertThat(trial.committed(0)).isEqualTo(1);
			assertThat(early).isFalse();
			assertThat(pool.join().usedAfterClose).isFalse();
			assertThat(output.getAll()).doesNotContain("after it has been closed", "Producer closed",
					"closed forcefully");
		}
	}

	@Test
	void R2_withoutADeadLetterThereIsNoCommit() {
		try (Trial trial = Trial.on("neither", 1)) {
			Hold last = new Hold();
			trial.work((record) -> {
				last.await();
				throw new IllegalArgumentException("Handler failed");
			});
			QueueApp app = trial.start("kafka-queue.defaults.retry.local.max-attempts=1",
					"kafka-queue.defaults.dlq.create=false", "kafka-queue.defaults.shutdown.drain-timeout=1s");
			trial.send(1, 1);
			last.awaitArrived(1);

			CompletableFuture<Void> closed = aside(app::close);
			awaitDraining(app);
			last.release();
			closed.orTimeout(20, TimeUnit.SECONDS).join();

			assertThat(trial.committed(0)).isLessThanOrEqualTo(0);
			trial.work((record) -> true);
			trial.start();
			trial.awaitAll(1);
		}
	}

	@Test
	void X67_recordsInBackOffAndPolledMeanwhileAreLetGo() {
		try (Trial trial = Trial.on("backoff", 1)) {
			trial.work((record) -> {
				if (record.offset() < 5) {
					throw new IllegalStateException("Not yet");
				}
				return true;
			});
			trial.send(1, 100);
			QueueApp app = trial.start("kafka-queue.defaults.retry.local.initial-interval=1h",
					"kafka-queue.defaults.retry.local.max-interval=1h");
			trial.awaitHandled(95);
			QueueApp.eventually().until(() -> Trial.queue(app).retryWaiting() == 5);

			Instant begin = Instant.now();
			Trial.container(app).stop();

			assertThat(Duration.between(begin, Instant.now())).isLessThan(Duration.ofSeconds(3));
			assertThat(trial.committed(0)).isLessThanOrEqualTo(0);
			trial.work((record) -> true);
			Trial.container(app).start();
			trial.awaitAll(100);
			assertThat(trial.journal().started()).hasSize(105);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { CLASSIC, CONSUMER })
	void X69_anIdleQueueStopsAtOnceAndStartsAgain(String protocol) {
		try (Trial trial = Trial.on("idle", 2)) {
			QueueApp app = trial.start(protocol);
			Trial.awaitPartitions(app, 2);
			for (int cycle = 0; cycle < 3; cycle++) {
				Instant begin = Instant.now();
				Trial.container(app).stop();

				assertThat(Duration.between(begin, Instant.now())).isLessThan(Duration.ofSeconds(2));
				assertThat(Trial.queue(app).state()).isEqualTo(QueueState.STOPPED);
				assertThat(Trial.queue(app).partitions()).isEmpty();
				trial.send(2, 10);
				Trial.container(app).start();
				trial.awaitAll(10 * (cycle + 1));
			}
		}
	}

	@Test
	void X69_aStopThatMeetsTheAssignmentIsNotDelayedToTheEndOfThePoll() {
		try (Trial trial = Trial.on("assigning", 1)) {
			Hold assigning = new Hold();
			trial.tap(() -> (call) -> {
				if (call.name().equals("committed")) {
					assigning.await();
				}
				Object result = call.proceed();
				if (call.name().equals("wakeup")) {
					assigning.release();
				}
				return result;
			});
			QueueApp app = trial.start();
			assigning.awaitArrived(1);

			Instant begin = Instant.now();
			Trial.container(app).stop();

			assertThat(Duration.between(begin, Instant.now())).isLessThan(Duration.ofSeconds(2));
		}
	}

	@Test
	void recordsPolledButNotHandedOverByAStoppingContainerAreNotLost() {
		try (Trial trial = Trial.on("dropped", 1)) {
			AtomicReference<MessageListenerContainer> container = new AtomicReference<>();
			AtomicBoolean stopped = new AtomicBoolean();
			trial.tap(() -> (call) -> {
				Object result = call.proceed();
				MessageListenerContainer current = container.get();
				if (current != null && result instanceof ConsumerRecords<?, ?> records && !records.isEmpty()
						&& stopped.compareAndSet(false, true)) {
					current.stop(() -> {
					});
				}
				return result;
			});
			QueueApp app = trial.start();
			Trial.awaitPartitions(app, 1);
			container.set(Trial.container(app));
			trial.send(1, 50);
			QueueApp.eventually().until(() -> stopped.get() && Trial.queue(app).state() == QueueState.STOPPED);
			int before = trial.journal().finished().size();
			assertThat(before).as("the container dropped what it had polled").isLessThan(50);

			Trial.container(app).start();

			trial.awaitAll(50);
			assertThat(trial.journal().started()).hasSize(50);
		}
	}

	@Test
	void L4_stopInTheMiddleOfARebalanceCommitsWhatEnded() throws Exception {
		try (Trial trial = Trial.on("midway", 4);
				KafkaConsumer<byte[], byte[]> slow = member(trial);
				KafkaConsumer<byte[], byte[]> joining = member(trial)) {
			// A member that is slow to poll keeps the group from ending its rebalance.
			AtomicBoolean rebalancing = new AtomicBoolean();
			trial.tap(() -> (call) -> {
				OffsetCommitCallback callback = call.argument(OffsetCommitCallback.class);
				if (callback != null) {
					call.replace(OffsetCommitCallback.class, (offsets, error) -> {
						if (error instanceof RebalanceInProgressException) {
							rebalancing.set(true);
						}
						callback.onComplete(offsets, error);
					});
				}
				return call.proceed();
			});
			slow.subscribe(List.of(trial.topic()));
			QueueApp app = trial.start("spring.kafka.consumer.heartbeat-interval=100ms");
			QueueApp.eventually().until(() -> {
				slow.poll(Duration.ofMillis(50));
				return slow.assignment().size() == 2 && Trial.queue(app).partitions().size() == 2;
			});
			slow.pause(slow.assignment());
			joining.subscribe(List.of(trial.topic()));
			CompletableFuture<Void> join = aside(() -> QueueApp.eventually().until(() -> {
				joining.poll(Duration.ofMillis(50));
				return !joining.assignment().isEmpty();
			}));
			QueueApp.eventually().until(() -> {
				trial.send(4, 4);
				return rebalancing.get();
			});
			trial.send(4, 40);
			List<TopicPartition> own = Trial.queue(app).partitions().stream().map(PartitionView::partition).toList();
			QueueApp.eventually()
				.untilAsserted(
						() -> assertThat(own).allSatisfy((partition) -> assertThat(trial.journal().watermark(partition))
							.isEqualTo(Broker.end(partition))));

			CompletableFuture<Void> stopped = aside(() -> Trial.container(app).stop());
			awaitDraining(app);
			QueueApp.eventually().until(() -> {
				slow.poll(Duration.ofMillis(50));
				return stopped.isDone() && join.isDone();
			});

			stopped.get(1, TimeUnit.SECONDS);
			assertThat(own).hasSize(2)
				.allSatisfy((partition) -> assertThat(trial.committed(partition.partition()))
					.isEqualTo(trial.journal().watermark(partition)));
		}
	}

	private static KafkaConsumer<byte[], byte[]> member(Trial trial) {
		return new KafkaConsumer<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap(),
				ConsumerConfig.GROUP_ID_CONFIG, trial.topic(), ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
				ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false, ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 100,
				ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName()),
				new ByteArrayDeserializer(), new ByteArrayDeserializer());
	}

	/** On a thread of its own, since the common pool may have one only. */
	private static CompletableFuture<Void> aside(Runnable task) {
		return CompletableFuture.runAsync(task, (command) -> new Thread(command).start());
	}

	/** Notes a commit of record 0 while the dead-letter topic is empty. */
	private static ConsumerTap noting(AtomicBoolean early, TopicPartition deadLetters) {
		return (call) -> {
			Map<?, ?> offsets = call.name().startsWith("commit") ? call.argument(Map.class) : null;
			if (offsets != null
					&& offsets.values().stream().anyMatch((offset) -> ((OffsetAndMetadata) offset).offset() > 0)
					&& Broker.end(deadLetters) == 0) {
				early.set(true);
			}
			return call.proceed();
		};
	}

	private static void awaitDraining(QueueApp app) {
		QueueApp.eventually().until(() -> !Trial.container(app).isRunning());
	}

	static class Pool implements AutoCloseable {

		final AtomicBoolean usedAfterClose = new AtomicBoolean();

		private volatile boolean closed;

		void use() {
			if (this.closed) {
				this.usedAfterClose.set(true);
				throw new IllegalStateException("Pool is closed");
			}
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

}
