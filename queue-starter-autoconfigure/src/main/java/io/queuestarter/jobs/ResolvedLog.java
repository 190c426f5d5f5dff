package io.queuestarter.jobs;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;
import io.queuestarter.browse.Resolved;
import io.queuestarter.ledger.AckedSetCodec;

/**
 * What is resolved in the partitions of a job, and how much of it is not committed yet.
 * <em>Job thread only.</em>
 * <p>
 * At most one commit is in flight. What a commit did not tell is taken for unresolved by
 * the next job, so the number of letters under way and resolved since the last one is
 * bounded: a process that dies leaves no more repeats than that.
 */
final class ResolvedLog {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	/** How long commits may fail in a row: longer than a coordinator takes to move. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final Duration CHECK_INTERVAL = Duration.ofMillis(100);

	private static final Duration SAVE_LIMIT = Duration.ofSeconds(30);

	private static final Duration POLL = Duration.ofMillis(50);

	private final Consumer<byte[], byte[]> consumer;

	private final Runnable check;

	private final Map<TopicPartition, ResolvedOffsets> partitions = new HashMap<>();

	private final AckedSetCodec codec = new AckedSetCodec();

	private int unsaved;

	private boolean inFlight;

	private long nextCheck = System.nanoTime();

	private long firstFailureNanos;

	private boolean failing;

	private @Nullable RuntimeException fatal;

	/**
	 * Reads what earlier jobs have resolved.
	 * @param consumer reads and commits
	 * @param starts first offsets that the logs hold
	 * @param check throws if this job must not commit any more
	 */
	ResolvedLog(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> starts, Runnable check) {
		this.consumer = consumer;
		this.check = check;
		Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(starts.keySet(), TIMEOUT);
		Map<TopicPartition, Long> ends = consumer.endOffsets(starts.keySet(), TIMEOUT);
		starts.forEach((partition, start) -> this.partitions.put(partition,
				new ResolvedOffsets(Resolved.of(committed.get(partition), ends.getOrDefault(partition, 0L)), start)));
	}

	ResolvedOffsets of(TopicPartition partition) {
		return Objects.requireNonNull(this.partitions.get(partition));
	}

	void resolved(TopicPartition partition, long offset) {
		of(partition).add(offset);
		this.unsaved++;
	}

	/** Letters resolved that no acknowledged commit tells of. */
	int unsaved() {
		return this.unsaved;
	}

	/** Commits what has changed, unless a commit is in flight. */
	void commit() {
		if (this.fatal != null) {
			throw this.fatal;
		}
		if (this.inFlight) {
			return;
		}
		Map<TopicPartition, OffsetAndMetadata> changes = changes();
		if (changes.isEmpty()) {
			return;
		}
		if (!mayCommit()) {
			changes.keySet().forEach((partition) -> of(partition).touch());
			return;
		}
		int saves = this.unsaved;
		this.inFlight = true;
		this.consumer.commitAsync(changes, (offsets, error) -> {
			this.inFlight = false;
			if (error == null) {
				this.unsaved -= saves;
				this.failing = false;
			}
			else {
				changes.keySet().forEach((partition) -> of(partition).touch());
				if (!isRetriable(error) || hasFailedForLong()) {
					this.fatal = new JobFailedException("What is resolved could not be committed: " + error, error);
				}
			}
		});
	}

	private boolean hasFailedForLong() {
		long now = System.nanoTime();
		if (!this.failing) {
			this.failing = true;
			this.firstFailureNanos = now;
		}
		return now - this.firstFailureNanos > PATIENCE.toNanos();
	}

	/** While its members are told their partitions, a group takes no commits. */
	private static boolean isRetriable(Exception error) {
		return error instanceof RetriableException || error instanceof RetriableCommitFailedException
				|| error instanceof RebalanceInProgressException;
	}

	/** A check takes about as long as a commit. */
	private boolean mayCommit() {
		return System.nanoTime() - this.nextCheck < 0 || isChecked();
	}

	/** Answers false if the broker does not say: nothing is committed then. */
	private boolean isChecked() {
		try {
			this.check.run();
			this.nextCheck = System.nanoTime() + CHECK_INTERVAL.toNanos();
			return true;
		}
		catch (JobFailedException ex) {
			throw ex;
		}
		catch (QueueException ex) {
			if (hasFailedForLong()) {
				throw ex;
			}
			return false;
		}
	}

	/** Throws if this job must not commit any more. */
	void check() {
		this.check.run();
	}

	/**
	 * Commits all, and waits for the broker's answer; to be called last, since what is
	 * polled meanwhile is lost.
	 */
	void save() {
		long limit = System.nanoTime() + SAVE_LIMIT.toNanos();
		while (!isChecked() || !saveAll()) {
			if (System.nanoTime() - limit > 0) {
				throw new JobFailedException("What is resolved could not be committed within " + SAVE_LIMIT, null);
			}
			this.consumer.pause(this.consumer.assignment());
			this.consumer.poll(POLL);
		}
	}

	/** Answers false if it may succeed after another poll. */
	private boolean saveAll() {
		this.partitions.values().forEach(ResolvedOffsets::touch);
		Map<TopicPartition, OffsetAndMetadata> changes = changes();
		if (changes.isEmpty()) {
			return true;
		}
		try {
			this.consumer.commitSync(changes, TIMEOUT);
			this.unsaved = 0;
			return true;
		}
		catch (KafkaException ex) {
			if (isRetriable(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private Map<TopicPartition, OffsetAndMetadata> changes() {
		Map<TopicPartition, OffsetAndMetadata> changes = new HashMap<>();
		this.partitions.forEach((partition, resolved) -> {
			OffsetAndMetadata change = resolved.changes(this.codec);
			if (change != null) {
				changes.put(partition, change);
			}
		});
		return changes;
	}

}
