package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.blockage.HeadRelief;
import io.queuestarter.commit.CommitLog;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.AckedSet;

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

	/** Longest wait for the beginnings of logs when partitions are assigned. */
	private static final Duration START_LIMIT = Duration.ofSeconds(3);

	private final Queue queue;

	private final Consumer<byte[], byte[]> consumer;

	private final TimeSource time;

	private final ConsumerSignal signal;

	private final Intake intake;

	private final CommitLog commits;

	private final LastCommit lastCommit;

	private final RetentionLoss retentionLoss;

	private final PartitionLives lives;

	private final PartitionViews views;

	private final CommittedOffsets committedOffsets;

	private final HeadRelief relief;

	QueueConsumer(Queue queue, Consumer<byte[], byte[]> consumer, TimeSource time, ConsumerSignal signal,
			Intake intake) {
		this.queue = queue;
		this.consumer = consumer;
		this.time = time;
		this.signal = signal;
		this.intake = intake;
		this.commits = new CommitLog(queue.settings().commitInterval().toNanos(), time.nanoTime());
		this.views = new PartitionViews(consumer, intake, this.commits, queue, time);
		this.committedOffsets = new CommittedOffsets(queue.id(), consumer, time);
		this.lastCommit = new LastCommit(queue.id(), consumer, time);
		this.retentionLoss = new RetentionLoss(queue.id(), consumer, intake, queue.intakeCounts()::lost,
				time.nanoTime());
		this.lives = new PartitionLives(queue.topicLives());
		this.relief = queue.headRelief();
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
		long now = this.time.nanoTime();
		this.lives.lookIfDue(now);
		beginAnew(this.lives.renew());
		List<TopicPartition> due = this.committedOffsets.due();
		if (!due.isEmpty()) {
			begin(due);
		}
		this.retentionLoss.lookIfDue(now);
		this.intake.setClosed(this.queue.lanes().isOpen());
		this.intake.proceed();
		this.relief.lookIfDue(this.intake.assignments(), now);
		if (this.commits.nanosUntilDue(now) <= 0) {
			commit(now);
		}
		this.views.takeIfDue();
	}

	/**
	 * Waits a moment for room if there is none at all: to pause all partitions and resume
	 * them costs more than quick handlers.
	 */
	void awaitRoom() {
		if (this.intake.isAllPaused()) {
			this.signal.await(PAUSED_POLL_NANOS);
			this.intake.proceed();
		}
	}

	/** What is done after each poll. */
	void polled() {
		this.queue.polled(this.time.now());
	}

	/** Takes over what a poll returned. */
	void accept(ConsumerRecords<byte[], byte[]> records) {
		this.retentionLoss.polled(records);
		for (TopicPartition partition : records.partitions()) {
			if (records.records(partition).get(0).offset() == 0 && this.intake.expected(partition) > 0) {
				this.lives.begunAnew(partition);
				this.commits.renew(partition);
			}
		}
		this.intake.accept(records);
	}

	/** How long a poll may block. */
	long pollNanos(long timeoutNanos) {
		long slice = this.committedOffsets.waiting().isEmpty() ? timeoutNanos
				: Math.min(timeoutNanos, CommittedOffsets.ASK_AGAIN_NANOS);
		if (hasUncommitted()) {
			long due = this.commits.nanosUntilDue(this.time.nanoTime());
			long interval = this.queue.settings().commitInterval().toNanos();
			slice = Math.min(slice, Math.max(Math.min(due, interval), TimeUnit.MILLISECONDS.toNanos(1)));
		}
		slice = Math.min(slice, this.intake.nanosUntilDue());
		if (this.intake.isAllPaused()) {
			return Math.min(slice, ALL_PAUSED_NANOS);
		}
		return this.intake.isShortOfRoom() ? Math.min(slice, PAUSED_POLL_NANOS) : slice;
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
		Map<TopicPartition, OffsetAndMetadata> changes = this.lives
			.current(this.commits.changes(this.intake.assignments()));
		this.commits.attempted(now, changes.keySet());
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
		this.commits.failed(this.time.now());
		this.queue.committed(error.toString());
		if (isUnknownTopic(error) || isUnknownTopic(error.getCause())) {
			this.lives.doubt();
		}
		if (Integer.bitCount(this.commits.failures()) == 1) {
			LOGGER.warn("Commit of queue '{}' failed ({} in a row) and is repeated: {}", id(), this.commits.failures(),
					error.toString());
		}
	}

	private static boolean isUnknownTopic(@Nullable Throwable error) {
		return error instanceof UnknownTopicOrPartitionException || error instanceof UnknownTopicIdException;
	}

	/** Partitions that must not be fetched now. */
	Set<TopicPartition> paused() {
		Set<TopicPartition> paused = new HashSet<>(this.intake.paused());
		paused.addAll(this.committedOffsets.waiting());
		return paused;
	}

	/** Begins new assignments, with what earlier owners have settled. */
	void assigned(Collection<TopicPartition> partitions) {
		this.queue.topics().assigned(partitions, this.consumer.subscription());
		if (!partitions.isEmpty()) {
			begin(partitions);
		}
	}

	private void begin(Collection<TopicPartition> partitions) {
		Map<TopicPartition, OffsetAndMetadata> committed = this.committedOffsets.ask(partitions);
		if (committed == null) {
			return;
		}
		long restored = 0;
		for (TopicPartition partition : partitions) {
			OffsetAndMetadata offset = committed.get(partition);
			this.commits.assign(partition, offset);
			if (offset == null) {
				this.intake.begin(partition, -1, AckedSet.EMPTY, -1);
				continue;
			}
			AckedSet before = CommittedOffsets.read(partition, offset);
			restored += before.settled().count();
			this.intake.begin(partition, offset.offset(), before, offset.leaderEpoch().orElse(-1));
		}
		Set<TopicPartition> fromBeginning = new HashSet<>(this.lives.begin(partitions, committed));
		fromBeginning.addAll(owed(partitions, committed));
		readFromBeginning(fromBeginning);
		this.views.take();
		LOGGER.info("Queue '{}' was assigned {}, {} records above the watermark settled before", id(), partitions,
				restored);
	}

	/**
	 * Partitions that the queue writes itself and whose position is not known, or
	 * deleted: each record that is left is owed, whatever the reset policy.
	 */
	private Set<TopicPartition> owed(Collection<TopicPartition> partitions,
			Map<TopicPartition, OffsetAndMetadata> committed) {
		Set<TopicPartition> own = new HashSet<>(partitions);
		own.removeIf((partition) -> !this.queue.topics().stage(partition.topic()).isOwn());
		if (own.isEmpty()) {
			return own;
		}
		Map<TopicPartition, Long> starts = new HashMap<>();
		try {
			starts.putAll(this.consumer.beginningOffsets(own, START_LIMIT));
		}
		catch (WakeupException ex) {
			// Meant for the next poll.
			this.consumer.wakeup();
		}
		catch (KafkaException ex) {
			LOGGER.warn("Queue '{}' could not ask where {} begin", id(), own, ex);
		}
		own.removeIf((partition) -> {
			OffsetAndMetadata offset = committed.get(partition);
			return offset != null && offset.offset() >= starts.getOrDefault(partition, 0L);
		});
		return own;
	}

	/** Gives up all partitions, before the consumer leaves its group. */
	void leave() {
		Collection<TopicPartition> partitions = this.intake.partitions();
		this.committedOffsets.waiting().clear();
		this.lastCommit.beforeLeaving(drain(partitions));
		end(partitions);
	}

	/** Gives up partitions that are revoked. */
	void revoked(Collection<TopicPartition> partitions) {
		this.lastCommit.beforeRevocation(drain(partitions));
		this.lastCommit.revoked(partitions);
		end(partitions);
	}

	private void end(Collection<TopicPartition> partitions) {
		partitions.forEach(this.commits::close);
		this.lives.end(partitions);
		this.committedOffsets.forget(partitions);
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
		this.views.take();
		return this.lives.confirmed(this.commits.changes(closing));
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
		end(partitions);
		if (!closing.isEmpty()) {
			this.views.take();
			LOGGER.warn("Queue '{}' lost {}; records in flight are delivered again", id(), partitions);
		}
	}

	/**
	 * Begins partitions anew whose position was set from outside: all of them if none is
	 * named, as the consumer understands it.
	 */
	void restart(Collection<TopicPartition> partitions) {
		for (Assignment assignment : close(partitions.isEmpty() ? this.intake.partitions() : partitions)) {
			assignment.ledger().forEachOutstanding(Delivery::letGo);
			this.intake.begin(assignment.partition(), -1, AckedSet.EMPTY, -1);
		}
	}

	/** Reads partitions whose topic was created anew from their beginning. */
	private void beginAnew(List<TopicPartition> partitions) {
		if (!partitions.isEmpty()) {
			restart(partitions);
			partitions.forEach(this.commits::renew);
			readFromBeginning(partitions);
		}
	}

	private void readFromBeginning(Collection<TopicPartition> partitions) {
		if (!partitions.isEmpty()) {
			// Without a partition it would speak of all.
			this.consumer.seekToBeginning(partitions);
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
