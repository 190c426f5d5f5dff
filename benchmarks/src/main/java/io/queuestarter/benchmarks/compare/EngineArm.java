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

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.commit.CommitLog;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.outage.Circuit;

/**
 * The queue's stages without Spring: a loop that polls and commits as the queue's
 * consumer does, intake, ledger, dispatcher and settler, and the handler called by the
 * worker itself.
 */
final class EngineArm implements Arm {

	private static final long COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	private static final long BYTES = 64L * 1024 * 1024;

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

		private final Stages stages;

		private final Intake intake;

		private final CommitLog commits = new CommitLog(COMMIT_NANOS, System.nanoTime());

		private volatile boolean room;

		private volatile @Nullable Thread thread;

		Engine(Scenario scenario, Consumer<byte[], byte[]> consumer, Probe probe, Workers workers,
				ScheduledExecutorService timer) {
			this.consumer = consumer;
			this.probe = probe;
			this.stages = new Stages(scenario.inFlight(), QueueArm.buffer(scenario), workers, timer, this::handle,
					this::hasRoom);
			this.intake = this.stages.intake(scenario.window(), BYTES, this::hasRoom);
		}

		private void hasRoom() {
			this.room = true;
			LockSupport.unpark(this.thread);
		}

		/** As the queue's runner does, without arguments to be made. */
		private boolean handle(Delivery delivery, int slot) {
			Circuit circuit = this.stages.circuits().of(delivery.record());
			circuit.tryAcquire();
			Attempt attempt = delivery.start(this.stages.settler(), slot, TimeSource.SYSTEM, Stages.TIMEOUT, circuit);
			if (attempt == null) {
				circuit.released();
				return true;
			}
			try {
				attempt.enter();
				ConsumerRecord<byte[], byte[]> record = attempt.record();
				this.probe.handle(record.value());
				this.stages.settler().handled(attempt);
			}
			catch (Throwable ex) {
				this.stages.settler().failed(attempt, ex);
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
			if (this.intake.isAllPaused()) {
				await(5);
				this.intake.proceed();
			}
			applyBounds();
			ConsumerRecords<byte[], byte[]> polled;
			if (this.intake.isAllPaused()) {
				polled = this.consumer.poll(Duration.ZERO);
				if (polled.isEmpty()) {
					await(100);
				}
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

		private void await(long millis) {
			if (!this.room) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
			}
			this.room = false;
		}

		private void commit(long now) {
			Map<TopicPartition, OffsetAndMetadata> changes = this.commits.changes(this.intake.assignments());
			this.commits.attempted(now, changes.keySet());
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
