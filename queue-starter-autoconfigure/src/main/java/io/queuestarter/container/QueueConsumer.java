package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.commit.CommitLog;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

/**
 * The queue's work on one Kafka consumer: intake, commits, and the life of its
 * partitions. <em>Consumer thread only</em>, except {@link #views()} and what it says of
 * others.
 */
final class QueueConsumer {

	private static final Logger LOGGER = LoggerFactory.getLogger(QueueConsumer.class);

	/** Longest poll while a partition is paused by a bound and others are fetched. */
	private static final long PAUSED_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** Longest wait of a consumer whose partitions are all paused. */
	private static final long ALL_PAUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** Time between two looks at running records while partitions are drained. */
	private static final long DRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** Longest wait for the group's committed offsets on assignment. */
	private static final Duration COMMITTED_TIMEOUT = Duration.ofSeconds(10);

	private final Queue queue;

	private final Consumer<byte[], byte[]> consumer;

	private final TimeSource time;

	private final ConsumerSignal signal;

	private final Intake intake;

	private final CommitLog commits;

	private final LastCommit lastCommit;

	private final PartitionViews views;

	QueueConsumer(Queue queue, Consumer<byte[], byte[]> consumer, TimeSource time, ConsumerSignal signal,
			Intake intake) {
		this.queue = queue;
		this.consumer = consumer;
		this.time = time;
		this.signal = signal;
		this.intake = intake;
		this.commits = new CommitLog(queue.settings().commitInterval().toNanos(), time.nanoTime());
		this.views = new PartitionViews(consumer, intake, this.commits);
		this.lastCommit = new LastCommit(queue.id(), consumer);
	}

	String id() {
		return this.queue.id();
	}

	/** Thread-safe. */
	ConsumerSignal signal() {
		return this.signal;
	}

	Intake intake() {
		return this.intake;
	}

	/** Partitions as of the last look. Thread-safe. */
	List<PartitionView> views() {
		return this.views.latest();
	}

	/** What is done before each poll. */
	void proceed() {
		this.intake.proceed();
		long now = this.time.nanoTime();
		if (this.commits.nanosUntilDue(now) <= 0) {
			commit(now);
		}
		this.views.takeIfDue(now);
	}

	/** What is done after each poll. */
	void polled() {
		this.queue.polled(this.time.now());
	}

	/** How long a poll may block. */
	long pollNanos(long timeoutNanos) {
		long slice = timeoutNanos;
		if (hasUncommitted()) {
			long due = this.commits.nanosUntilDue(this.time.nanoTime());
			long interval = this.queue.settings().commitInterval().toNanos();
			slice = Math.min(slice, Math.max(Math.min(due, interval), TimeUnit.MILLISECONDS.toNanos(1)));
		}
		if (this.intake.isAllPaused()) {
			return Math.min(slice, ALL_PAUSED_NANOS);
		}
		return this.intake.paused().isEmpty() ? slice : Math.min(slice, PAUSED_POLL_NANOS);
	}

	private boolean hasUncommitted() {
		for (Assignment assignment : this.intake.assignments()) {
			if (assignment.ledger().tracked() > 0
					|| assignment.ledger().watermark() > this.commits.committed(assignment.partition())) {
				return true;
			}
		}
		return false;
	}

	private void commit(long now) {
		Map<TopicPartition, OffsetAndMetadata> changes = this.commits.changes(this.intake.assignments());
		this.commits.attempted(now, !changes.isEmpty());
		if (changes.isEmpty()) {
			return;
		}
		try {
			this.consumer.commitAsync(changes, (offsets, error) -> {
				if (error == null) {
					this.commits.succeeded(changes);
					this.queue.committed(null);
				}
				else {
					commitFailed(error);
				}
			});
		}
		catch (RuntimeException ex) {
			commitFailed(ex);
		}
	}

	private void commitFailed(Exception error) {
		this.commits.failed();
		this.queue.committed(error.toString());
		if (Integer.bitCount(this.commits.failures()) == 1) {
			LOGGER.warn("Commit of queue '{}' failed ({} in a row) and is repeated: {}", id(), this.commits.failures(),
					error.toString());
		}
	}

	/** Begins new assignments, with what earlier owners have settled. */
	void assigned(Collection<TopicPartition> partitions) {
		if (partitions.isEmpty()) {
			return;
		}
		Map<TopicPartition, OffsetAndMetadata> committed = committed(partitions);
		long restored = 0;
		for (TopicPartition partition : partitions) {
			OffsetAndMetadata offset = committed.get(partition);
			this.commits.assign(partition, offset);
			if (offset == null) {
				this.intake.begin(partition, -1, OffsetRanges.EMPTY);
				continue;
			}
			OffsetRanges settled = settledBefore(partition, offset);
			restored += settled.count();
			this.intake.begin(partition, offset.offset(), settled);
		}
		this.queue.assigned(partitions);
		this.views.take(this.time.nanoTime());
		LOGGER.info("Queue '{}' was assigned {}, {} records above the watermark settled before", id(), partitions,
				restored);
	}

	/** A wake-up is meant for the poll around: put off until the answer is there. */
	private Map<TopicPartition, OffsetAndMetadata> committed(Collection<TopicPartition> partitions) {
		boolean woken = false;
		try {
			while (true) {
				try {
					return this.consumer.committed(new HashSet<>(partitions), COMMITTED_TIMEOUT);
				}
				catch (WakeupException ex) {
					woken = true;
				}
			}
		}
		catch (KafkaException ex) {
			LOGGER.warn("Committed offsets of {} could not be read; records that were settled above the watermark "
					+ "will run again", partitions, ex);
			return Map.of();
		}
		finally {
			if (woken) {
				this.consumer.wakeup();
			}
		}
	}

	private OffsetRanges settledBefore(TopicPartition partition, OffsetAndMetadata committed) {
		Optional<OffsetRanges> settled = AckedSetCodec.decode(committed.offset(), committed.metadata());
		if (settled.isEmpty()) {
			LOGGER.warn("Commit metadata of '{}' at {} ({} characters) was not written by a queue and is ignored",
					partition, committed.offset(), committed.metadata().length());
		}
		return settled.orElse(OffsetRanges.EMPTY);
	}

	/** Gives up all partitions, before the consumer leaves its group. */
	void leave() {
		Collection<TopicPartition> partitions = this.intake.partitions();
		this.lastCommit.beforeLeaving(drain(partitions));
		partitions.forEach(this.commits::close);
	}

	/** Gives up partitions that are revoked. */
	void revoked(Collection<TopicPartition> partitions) {
		this.lastCommit.beforeRevocation(drain(partitions));
		this.lastCommit.revoked(partitions);
		partitions.forEach(this.commits::close);
	}

	/**
	 * Ends partitions that are still owned: lets go of what has not started and waits for
	 * what runs. Returns what is to be committed.
	 */
	private Map<TopicPartition, OffsetAndMetadata> drain(Collection<TopicPartition> partitions) {
		List<Assignment> closing = close(partitions);
		if (closing.isEmpty()) {
			return Map.of();
		}
		long start = this.time.nanoTime();
		long limit = this.queue.settings().drainTimeout().toNanos();
		int running = letGoIdle(closing);
		if (running > 0) {
			LOGGER.info("Draining {} of queue '{}': {} records in flight, up to {}", partitions, id(), running,
					this.queue.settings().drainTimeout());
		}
		while (running > 0 && this.time.nanoTime() - start < limit) {
			this.signal.await(DRAIN_NANOS);
			running = letGoIdle(closing);
		}
		if (running > 0) {
			LOGGER.warn("{} records of queue '{}' did not end within {}; they are cancelled and delivered again",
					running, id(), this.queue.settings().drainTimeout());
			closing.forEach((assignment) -> assignment.ledger().forEachOutstanding(Delivery::letGo));
		}
		closing.forEach((assignment) -> assignment.ledger().advance());
		this.views.take(this.time.nanoTime());
		return this.commits.changes(closing);
	}

	/**
	 * Answers how many records are still under way. One that was answered counts until
	 * its ledger knows, since the last commit is made of the ledger.
	 */
	private static int letGoIdle(List<Assignment> assignments) {
		int running = 0;
		for (Assignment assignment : assignments) {
			assignment.ledger().forEachOutstanding(Delivery::letGoIfIdle);
			running += assignment.outstanding();
		}
		return running;
	}

	/** The Kafka consumer is closed. */
	void closed() {
		this.queue.closed(this);
	}

	/** Forgets partitions that another member may own already. */
	void lost(Collection<TopicPartition> partitions) {
		List<Assignment> closing = close(partitions);
		closing.forEach((assignment) -> assignment.ledger().forEachOutstanding(Delivery::letGo));
		this.lastCommit.lost(partitions);
		partitions.forEach(this.commits::close);
		if (!closing.isEmpty()) {
			this.views.take(this.time.nanoTime());
			LOGGER.warn("Queue '{}' lost {}; records in flight are delivered again", id(), partitions);
		}
	}

	/** Begins partitions anew whose position was set from outside. */
	void restart(Collection<TopicPartition> partitions) {
		for (Assignment assignment : close(partitions)) {
			assignment.ledger().forEachOutstanding(Delivery::letGo);
			this.intake.begin(assignment.partition(), -1, OffsetRanges.EMPTY);
		}
	}

	private List<Assignment> close(Collection<TopicPartition> partitions) {
		List<Assignment> closed = new ArrayList<>();
		for (TopicPartition partition : partitions) {
			Assignment assignment = this.intake.close(partition);
			if (assignment != null) {
				closed.add(assignment);
			}
		}
		return closed;
	}

}
