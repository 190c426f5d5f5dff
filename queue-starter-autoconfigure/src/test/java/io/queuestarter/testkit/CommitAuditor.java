package io.queuestarter.testkit;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

/**
 * Checks every commit at the moment it is made, below the queue's gate: that each offset
 * it covers, by watermark or by metadata, was settled before; that the offset does not go
 * back, neither within an assignment nor behind what the broker has acknowledged; that
 * the partition is assigned; and that one asynchronous commit at most is under way.
 * <em>Thread-safe.</em>
 */
public final class CommitAuditor {

	private final Journal journal;

	private final List<String> violations = new CopyOnWriteArrayList<>();

	/** Up to where a partition's offsets are known to be settled. */
	private final Map<TopicPartition, Long> verified = new ConcurrentHashMap<>();

	private final Map<TopicPartition, Long> acknowledged = new ConcurrentHashMap<>();

	/** What acknowledged commits say is settled, offset by offset. */
	private final Map<TopicPartition, Set<Long>> covered = new ConcurrentHashMap<>();

	private final List<String> repeated = new CopyOnWriteArrayList<>();

	/** Records begun and not covered when their partition was given up. */
	private final AtomicInteger owed = new AtomicInteger();

	private final List<Audit> audits = new CopyOnWriteArrayList<>();

	private final AtomicInteger commits = new AtomicInteger();

	private final AtomicInteger assignments = new AtomicInteger();

	private final AtomicInteger revocations = new AtomicInteger();

	/** Creates an auditor that believes a journal. */
	public CommitAuditor(Journal journal) {
		this.journal = journal;
	}

	/** Tap for one consumer. */
	public ConsumerTap tap() {
		Audit audit = new Audit();
		this.audits.add(audit);
		return audit;
	}

	/**
	 * The log of the partition begins anew, or an administrator has set the group back:
	 * what was committed before counts no more.
	 */
	public void forget(TopicPartition partition) {
		this.acknowledged.remove(partition);
		this.verified.remove(partition);
		this.covered.remove(partition);
		this.audits.forEach((audit) -> audit.attempted.replace(partition, -1L));
	}

	/** What was wrong so far. */
	public List<String> violations() {
		return this.violations;
	}

	/** Number of commits seen. */
	public int commits() {
		return this.commits.get();
	}

	/** Sum of the offsets that the broker has acknowledged. */
	public long acknowledged() {
		return this.acknowledged.values().stream().mapToLong(Long::longValue).sum();
	}

	/** Number of times that partitions were assigned to a consumer. */
	public int assignments() {
		return this.assignments.get();
	}

	/** Number of times that partitions were revoked from a consumer, or lost. */
	public int revocations() {
		return this.revocations.get();
	}

	/**
	 * Records that were begun although a commit acknowledged before said that they were
	 * settled.
	 */
	public List<String> repeated() {
		return this.repeated;
	}

	/**
	 * How many records may have run again: at each loss of partitions those in flight,
	 * and those that had run and were in no acknowledged commit.
	 */
	public int repeatable(int maxInFlight) {
		return this.owed.get() + this.revocations.get() * maxInFlight;
	}

	void begun(Journal.Run run) {
		if (isCovered(run.partition(), run.offset())) {
			this.repeated.add(run.record());
		}
	}

	private boolean isCovered(TopicPartition partition, long offset) {
		return this.covered.getOrDefault(partition, Set.of()).contains(offset);
	}

	private void cover(TopicPartition partition, OffsetAndMetadata commit) {
		Set<Long> offsets = this.covered.computeIfAbsent(partition, (key) -> ConcurrentHashMap.newKeySet());
		for (long offset = Math.max(0, this.acknowledged.getOrDefault(partition, 0L)); offset < commit
			.offset(); offset++) {
			offsets.add(offset);
		}
		OffsetRanges above = AckedSetCodec.decode(commit.offset(), commit.metadata()).orElse(AckedSet.EMPTY).settled();
		for (int range = 0; range < above.size(); range++) {
			for (long offset = above.first(range); offset <= above.last(range); offset++) {
				offsets.add(offset);
			}
		}
	}

	private void owe(Collection<TopicPartition> partitions) {
		for (TopicPartition partition : partitions) {
			this.journal.begun(partition)
				.stream()
				.filter((offset) -> !isCovered(partition, offset))
				.forEach((offset) -> this.owed.incrementAndGet());
		}
	}

	private void checkSettled(TopicPartition partition, OffsetAndMetadata commit) {
		long from = this.verified.getOrDefault(partition, 0L);
		for (long offset = from; offset < commit.offset(); offset++) {
			if (!this.journal.isSettled(partition, offset)) {
				this.violations.add(partition + " committed at " + commit.offset() + ", but " + offset + " is open");
				return;
			}
		}
		this.verified.merge(partition, commit.offset(), Math::max);
		OffsetRanges ranges = AckedSetCodec.decode(commit.offset(), commit.metadata()).orElse(AckedSet.EMPTY).settled();
		for (int range = 0; range < ranges.size(); range++) {
			for (long offset = ranges.first(range); offset <= ranges.last(range); offset++) {
				if (!this.journal.isSettled(partition, offset)) {
					this.violations.add("Metadata of " + partition + " says that " + offset + " is settled");
				}
			}
		}
	}

	/** What is known of one consumer. Consumer thread only, except what was attempted. */
	private final class Audit implements ConsumerTap {

		private final Map<TopicPartition, Long> attempted = new ConcurrentHashMap<>();

		private int underWay;

		@Override
		public @Nullable Object on(Call call) throws Throwable {
			switch (call.name()) {
				case "subscribe" -> {
					ConsumerRebalanceListener listener = call.argument(ConsumerRebalanceListener.class);
					if (listener != null) {
						call.replace(ConsumerRebalanceListener.class, new Listener(listener));
					}
				}
				case "commitAsync" -> {
					Map<TopicPartition, OffsetAndMetadata> offsets = check(call);
					if (++this.underWay > 1) {
						CommitAuditor.this.violations.add(this.underWay + " asynchronous commits under way");
					}
					OffsetCommitCallback callback = call.argument(OffsetCommitCallback.class);
					call.replace(OffsetCommitCallback.class, (ignored, error) -> {
						this.underWay--;
						if (error == null) {
							acknowledge(offsets);
						}
						if (callback != null) {
							callback.onComplete(offsets, error);
						}
					});
					try {
						return call.proceed();
					}
					catch (KafkaException ex) {
						this.underWay--;
						throw ex;
					}
				}
				case "commitSync" -> {
					Map<TopicPartition, OffsetAndMetadata> offsets = check(call);
					call.proceed();
					acknowledge(offsets);
					return null;
				}
				default -> {
				}
			}
			return call.proceed();
		}

		@SuppressWarnings("unchecked")
		private Map<TopicPartition, OffsetAndMetadata> check(ConsumerTap.Call call) {
			CommitAuditor.this.commits.incrementAndGet();
			Map<TopicPartition, OffsetAndMetadata> offsets = call.argument(Map.class);
			if (offsets == null) {
				CommitAuditor.this.violations.add("Commit of whatever was polled");
				return Map.of();
			}
			offsets.forEach((partition, commit) -> {
				Long before = this.attempted.put(partition, commit.offset());
				if (before == null) {
					CommitAuditor.this.violations.add(partition + " is committed but not assigned");
				}
				else if (commit.offset() < before) {
					CommitAuditor.this.violations.add(partition + " goes back from " + before + " to " + commit);
				}
				long known = CommitAuditor.this.acknowledged.getOrDefault(partition, -1L);
				if (commit.offset() < known) {
					CommitAuditor.this.violations.add(partition + " goes back behind " + known + " to " + commit);
				}
				checkSettled(partition, commit);
			});
			return offsets;
		}

		private void acknowledge(Map<TopicPartition, OffsetAndMetadata> offsets) {
			offsets.forEach((partition, commit) -> {
				cover(partition, commit);
				CommitAuditor.this.acknowledged.merge(partition, commit.offset(), Math::max);
			});
		}

		private final class Listener implements ConsumerRebalanceListener {

			private final ConsumerRebalanceListener delegate;

			Listener(ConsumerRebalanceListener delegate) {
				this.delegate = delegate;
			}

			@Override
			public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
				partitions.forEach((partition) -> Audit.this.attempted.put(partition, -1L));
				if (!partitions.isEmpty()) {
					CommitAuditor.this.assignments.incrementAndGet();
				}
				this.delegate.onPartitionsAssigned(partitions);
			}

			@Override
			public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
				count(partitions);
				this.delegate.onPartitionsRevoked(partitions);
				partitions.forEach(Audit.this.attempted::remove);
				owe(partitions);
			}

			@Override
			public void onPartitionsLost(Collection<TopicPartition> partitions) {
				count(partitions);
				partitions.forEach(Audit.this.attempted::remove);
				this.delegate.onPartitionsLost(partitions);
				owe(partitions);
			}

			private void count(Collection<TopicPartition> partitions) {
				if (!partitions.isEmpty()) {
					CommitAuditor.this.revocations.incrementAndGet();
				}
			}

		}

	}

}
