package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.commit.CommitLog;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.intake.Intake;
import io.queuestarter.intake.IntakeCounts;
import io.queuestarter.intake.IntakeLimits;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.outage.Circuit;
import io.queuestarter.outage.Circuits;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.settle.ExceptionPolicy;
import io.queuestarter.settle.Outcomes;
import io.queuestarter.settle.Overstays;
import io.queuestarter.settle.RetryRule;
import io.queuestarter.settle.Routes;
import io.queuestarter.settle.Settler;

/**
 * The queue's stages without Spring: a loop that polls and commits as the queue's
 * consumer does, intake, ledger, dispatcher and settler, and the handler called by the
 * worker itself.
 */
final class EngineArm implements Arm {

	private static final long COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	private static final long BYTES = 64L * 1024 * 1024;

	private static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofSeconds(30), 1, Duration.ofSeconds(30));

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		Workers workers = Workers.of(scenario.inFlight());
		ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
		Engine engine = new Engine(scenario, records.consumer(), probe, workers, timer);
		engine.consumer.subscribe(List.of(records.topic()), engine);
		PollLoop loop = PollLoop.start("engine", engine, engine.consumer::close);
		engine.thread = loop.thread();
		return new Running() {

			@Override
			public boolean isCommitted() {
				return records.isCommitted();
			}

			@Override
			public void close() {
				loop.stop();
				workers.close();
				timer.shutdownNow();
			}

		};
	}

	private static final class Engine implements PollLoop.Turn, ConsumerRebalanceListener {

		private final Consumer<byte[], byte[]> consumer;

		private final Probe probe;

		private final Circuits circuits;

		private final Settler settler;

		private final Intake intake;

		private final CommitLog commits = new CommitLog(COMMIT_NANOS, System.nanoTime());

		private volatile boolean room;

		private volatile @Nullable Thread thread;

		Engine(Scenario scenario, Consumer<byte[], byte[]> consumer, Probe probe, Workers workers,
				ScheduledExecutorService timer) {
			this.consumer = consumer;
			this.probe = probe;
			int buffer = QueueArm.buffer(scenario);
			this.circuits = new Circuits(
					new OutageSettings(true, "engine", null, Duration.ofMinutes(5), 1, Duration.ofMinutes(2)),
					CircuitBreakerRegistry.ofDefaults(), null, System::nanoTime);
			Dispatcher<Delivery> dispatcher = new Dispatcher<>(scenario.inFlight(), buffer / 2, workers, this::handle,
					this::hasRoom);
			Overstays overstays = new Overstays(dispatcher, Duration.ofSeconds(5), 1, TimeSource.SYSTEM);
			RetryRule rule = new RetryRule(Handlers.ATTEMPTS, Handlers.ATTEMPTS,
					new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(10), () -> 0.5),
					ExceptionPolicy.RETRY_ALL);
			this.settler = new Settler(rule,
					new Routes(new RetryTopics(List.of(), null, List.of()), null, Routes.Aside.DLQ),
					(delivery, failure, destination) -> {
						throw new IllegalStateException("There is no dead-letter topic");
					}, dispatcher, new Retries(timer, dispatcher, 1), overstays, new Outcomes(), TimeSource.SYSTEM,
					(error) -> {
						throw new IllegalStateException(error);
					});
			this.intake = new Intake(new IntakeLimits(scenario.window(), buffer, BYTES, buffer / 2, BYTES),
					Stage::source, dispatcher, new ByteBudget(BYTES, this::hasRoom), new IntakeCounts(),
					TimeSource.SYSTEM, this::hasRoom);
		}

		private void hasRoom() {
			this.room = true;
			LockSupport.unpark(this.thread);
		}

		/** As the queue's runner does, without arguments to be made. */
		private boolean handle(Delivery delivery, int slot) {
			Circuit circuit = this.circuits.of(delivery.record());
			circuit.tryAcquire();
			Attempt attempt = delivery.start(this.settler, slot, TimeSource.SYSTEM, TIMEOUT, circuit);
			if (attempt == null) {
				circuit.released();
				return true;
			}
			try {
				attempt.enter();
				ConsumerRecord<byte[], byte[]> record = attempt.record();
				this.probe.handle(record.value());
				this.settler.handled(attempt);
			}
			catch (Throwable ex) {
				this.settler.failed(attempt, ex);
			}
			finally {
				attempt.leave();
			}
			return attempt.end();
		}

		@Override
		public void run() {
			this.intake.proceed();
			long now = System.nanoTime();
			if (this.commits.nanosUntilDue(now) <= 0) {
				commit(now);
			}
			applyBounds();
			ConsumerRecords<byte[], byte[]> polled;
			if (this.intake.isAllPaused()) {
				polled = this.consumer.poll(Duration.ZERO);
				if (polled.isEmpty() && !this.room) {
					LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
				}
				this.room = false;
			}
			else {
				polled = this.consumer.poll(Duration.ofMillis(this.intake.isShortOfRoom() ? 5 : 100));
			}
			if (polled.isEmpty()) {
				this.intake.reached(polled.nextOffsets());
			}
			else {
				this.intake.accept(polled);
				this.intake.proceed();
			}
		}

		private void commit(long now) {
			Map<TopicPartition, OffsetAndMetadata> changes = this.commits.changes(this.intake.assignments());
			this.commits.attempted(now, !changes.isEmpty());
			if (!changes.isEmpty()) {
				this.consumer.commitAsync(changes, (offsets, error) -> this.commits.succeeded(changes));
			}
		}

		private void applyBounds() {
			Set<TopicPartition> paused = this.consumer.paused();
			Set<TopicPartition> wanted = new HashSet<>(this.intake.paused());
			if (wanted.isEmpty() && paused.isEmpty()) {
				return;
			}
			Set<TopicPartition> resume = new HashSet<>(paused);
			resume.removeAll(wanted);
			wanted.removeAll(paused);
			this.consumer.pause(wanted);
			this.consumer.resume(resume);
		}

		@Override
		public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
			for (TopicPartition partition : partitions) {
				this.commits.assign(partition, null);
				this.intake.begin(partition, -1, AckedSet.EMPTY, -1);
			}
		}

		@Override
		public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
			partitions.forEach(this.intake::close);
		}

	}

}
