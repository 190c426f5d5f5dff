package io.queuestarter.container;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;

import io.queuestarter.container.SimulatedLog.Entry;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * What must be true of a partition while one simulated consumer owns it: the naive model
 * that the queue is compared with. Ends when the partition goes, or its position is set
 * back; a successor then takes over.
 */
final class Ownership {

	final SimulatedLog log;

	/** One number for each assignment. */
	final int generation;

	/** Life of the log that the offsets belong to. */
	int life;

	/** Offsets below are not to be delivered; -1 until known. */
	private long from;

	/** Settled by earlier owners. */
	private OffsetRanges restored;

	/** Whether what was restored may speak of an earlier life of the log. */
	boolean stale;

	private final Set<Long> settled = new HashSet<>();

	/** Handed over to the queue and to be settled. */
	private final TreeSet<Long> open = new TreeSet<>();

	/** Number of the last attempt by offset. */
	private final Map<Long, Integer> delivered = new HashMap<>();

	/** Offset behind the last record handed over. */
	private long next;

	private @Nullable OffsetAndMetadata sent;

	boolean ended;

	Ownership(SimulatedLog log, int generation, long from, OffsetRanges restored) {
		this.log = log;
		this.life = log.life;
		this.generation = generation;
		this.from = from;
		this.restored = restored;
		this.next = from;
	}

	/** The only places that know what a commit says. */
	static OffsetRanges settledAbove(OffsetAndMetadata committed) {
		return AckedSetCodec.decode(committed.offset(), committed.metadata()).orElse(AckedSet.EMPTY).settled();
	}

	static long reach(OffsetAndMetadata committed) {
		OffsetRanges settled = settledAbove(committed);
		return settled.isEmpty() ? committed.offset() : settled.last(settled.size() - 1) + 1;
	}

	/** The queue was told what the group has committed. */
	void restores(OffsetAndMetadata committed) {
		this.from = committed.offset();
		this.next = this.from;
		this.restored = settledAbove(committed);
		this.stale = this.log.stale;
	}

	/** The consumer begins to fetch. What it will not deliver must be handled. */
	void begins(long position) {
		this.life = this.log.life;
		this.stale |= this.log.stale;
		if (this.from < 0) {
			this.from = position;
			this.next = position;
		}
		for (Entry entry : this.log.entries.headMap(position).values()) {
			if (entry.isOpen()) {
				mustBeStale(entry, this.log.stale);
			}
		}
	}

	private void mustBeStale(Entry entry, boolean isStale) {
		if (!isStale) {
			fail("%s@%s was never handled and is not delivered again", this.log.partition, entry.record.offset());
		}
		entry.giveUp();
	}

	/**
	 * Records are handed over to the queue.
	 * @return who owns the partition from now on
	 */
	Ownership accepts(List<ConsumerRecord<byte[], byte[]>> records) {
		long first = records.get(0).offset();
		if (first < this.next) {
			Ownership successor = wentBackTo(first);
			successor.add(records);
			return successor;
		}
		add(records);
		return this;
	}

	private Ownership wentBackTo(long first) {
		this.ended = true;
		OffsetRanges.Builder kept = new OffsetRanges.Builder();
		for (long offset = this.from; offset < first; offset++) {
			if (isSettled(offset)) {
				kept.add(offset, offset);
			}
		}
		Ownership successor = new Ownership(this.log, this.generation, Math.min(this.from, first), kept.build());
		this.open.headSet(first).forEach(successor.open::add);
		successor.stale = this.stale;
		return successor;
	}

	private void add(List<ConsumerRecord<byte[], byte[]>> records) {
		for (ConsumerRecord<byte[], byte[]> record : records) {
			long offset = record.offset();
			this.next = offset + 1;
			if (!this.restored.contains(offset)) {
				this.open.add(offset);
				continue;
			}
			Entry entry = this.log.entry(record);
			if (entry != null && entry.isOpen()) {
				mustBeStale(entry, this.stale);
			}
		}
	}

	private boolean isSettled(long offset) {
		return this.settled.contains(offset) || this.restored.contains(offset);
	}

	/**
	 * A handler is called.
	 * @param uncounted whether the attempt before may not have counted
	 */
	void delivers(long offset, int attempt, boolean uncounted) {
		assertThat(this.open).as("%s is delivered", this.log.partition).contains(offset);
		Integer before = this.delivered.put(offset, attempt);
		int next = (before != null) ? before + 1 : 1;
		assertThat(attempt).as("%s@%s attempt after %s", this.log.partition, offset, before)
			.isBetween((before != null && uncounted) ? before : next, next);
	}

	/** All that it waits for, by the ordering, must be settled. */
	void isNext(ConsumerRecord<byte[], byte[]> record, Predicate<ConsumerRecord<byte[], byte[]>> sameKey) {
		for (long earlier : this.open.headSet(record.offset())) {
			Entry entry = this.log.entries.get(earlier);
			if (this.life == this.log.life && entry != null) {
				assertThat(sameKey.test(entry.record)).as("%s runs before %s", record.offset(), earlier).isFalse();
			}
		}
	}

	/** A handler succeeds. */
	void settles(ConsumerRecord<?, ?> record) {
		assertThat(this.open.remove(record.offset())).as("%s@%s is open", this.log.partition, record.offset()).isTrue();
		this.settled.add(record.offset());
		Entry entry = this.log.entry(record);
		if (entry != null) {
			entry.handled = true;
		}
	}

	/** A commit is sent. */
	void commits(OffsetAndMetadata commit) {
		assertThat(this.ended).as("%s is owned no more", this.log.partition).isFalse();
		OffsetRanges above = settledAbove(commit);
		if (this.sent != null) {
			assertThat(commit.offset()).as("%s never goes back", this.log.partition)
				.isGreaterThanOrEqualTo(this.sent.offset());
			OffsetRanges before = settledAbove(this.sent);
			for (long offset : this.log.entries.tailMap(commit.offset()).keySet()) {
				if (before.contains(offset) && !above.contains(offset)) {
					fail("%s@%s was settled in the last commit, and is not in this one", this.log.partition, offset);
				}
			}
		}
		this.sent = commit;
		Long lowest = this.open.isEmpty() ? null : this.open.first();
		if (lowest != null) {
			assertThat(commit.offset()).as("%s commit", this.log.partition).isLessThanOrEqualTo(lowest);
		}
		for (Long offset : this.open) {
			assertThat(above.contains(offset)).as("%s@%s is in the commit", this.log.partition, offset).isFalse();
		}
		if (this.life == this.log.life) {
			for (long offset : this.log.entries.tailMap(Math.max(this.from, 0)).keySet()) {
				if ((offset < commit.offset() || above.contains(offset)) && !isSettled(offset)) {
					fail("Commit %s %s passes %s@%s, which is not settled", commit.offset(), above, this.log.partition,
							offset);
				}
			}
		}
	}

	/** The partition went in good order: what was settled is committed. */
	void checkHandedOver() {
		OffsetAndMetadata committed = this.log.committed;
		if (this.life != this.log.life || this.settled.isEmpty()) {
			return;
		}
		assertThat(committed).as("%s is committed", this.log.partition).isNotNull();
		OffsetRanges above = settledAbove(committed);
		for (long offset : this.settled) {
			assertThat(offset < committed.offset() || above.contains(offset))
				.as("%s@%s was settled, and is in the last commit: %s %s", this.log.partition, offset,
						committed.offset(), above)
				.isTrue();
		}
	}

	/** Offsets that the queue must hold unsettled, of those below a limit. */
	List<Long> open(long below) {
		return List.copyOf(this.open.headSet(below));
	}

	@Nullable Long lowestOpen() {
		return this.open.isEmpty() ? null : this.open.first();
	}

}
