package io.queuestarter.container;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * One partition at the simulated broker: its records, with gaps between them, and what
 * its group has committed.
 */
final class SimulatedLog {

	/** Header, value and lane of some records. */
	static final String LANE = "lane";

	final TopicPartition partition;

	final TreeMap<Long, Entry> entries = new TreeMap<>();

	long start;

	long end;

	/** Increased whenever offsets that were in use are used again. */
	int life;

	@Nullable OffsetAndMetadata committed;

	/** Whether what is committed may speak of an earlier life. */
	boolean stale;

	@Nullable SimulatedConsumer owner;

	/** The member that is to own the partition. */
	@Nullable SimulatedConsumer target;

	SimulatedLog(TopicPartition partition) {
		this.partition = partition;
	}

	/** A key of -1 is none. */
	void append(int key, int bytes) {
		RecordHeaders headers = new RecordHeaders();
		if (key > 0 && key % 2 == 0) {
			headers.add(LANE, LANE.getBytes(StandardCharsets.UTF_8));
		}
		ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(this.partition.topic(), this.partition.partition(),
				this.end, 0L, TimestampType.CREATE_TIME, -1, bytes, (key >= 0) ? new byte[] { (byte) key } : null,
				new byte[bytes], headers, Optional.empty());
		this.entries.put(this.end++, new Entry(record));
	}

	/** Offsets that hold no record: transaction markers. */
	void skip(int offsets) {
		this.end += offsets;
	}

	void compact(SplittableRandom random) {
		this.entries.keySet().removeIf((offset) -> random.nextInt(8) == 0);
	}

	void retainFrom(long offset) {
		this.entries.headMap(offset).clear();
		this.start = offset;
	}

	/** Loses the tail. Whoever has seen it will find out at the next fetch. */
	void truncate(long to) {
		this.life++;
		this.entries.tailMap(to).clear();
		this.end = to;
		this.stale |= this.committed != null && Ownership.reach(this.committed) > to;
		if (this.owner != null) {
			this.owner.truncated(this);
		}
	}

	/** Is deleted and created anew. */
	void recreate() {
		this.start = 0;
		this.committed = null;
		this.stale = false;
		truncate(0);
	}

	void commit(OffsetAndMetadata offset, Ownership by) {
		this.committed = offset;
		this.stale = by.stale || by.life != this.life;
	}

	/** An operator decides where the group continues. */
	void setCommitted(OffsetAndMetadata offset) {
		boolean saysTheSame = this.committed != null && this.committed.metadata().equals(offset.metadata());
		this.stale = (this.stale && saysTheSame) || offset.offset() > this.end;
		this.committed = offset;
		giveUp(offset.offset());
	}

	/** Somebody outside of the queue wants nothing below the offset handled. */
	void giveUp(long below) {
		this.entries.headMap(below).values().forEach(Entry::giveUp);
	}

	@Nullable Entry entry(ConsumerRecord<?, ?> record) {
		Entry entry = this.entries.get(record.offset());
		return (entry != null && entry.record == record) ? entry : null;
	}

	long lag() {
		return this.end - Math.max(this.start, (this.committed != null) ? this.committed.offset() : 0);
	}

	List<Long> openOffsets() {
		return this.entries.entrySet()
			.stream()
			.filter((entry) -> entry.getValue().isOpen())
			.map(Map.Entry::getKey)
			.toList();
	}

	/** One record, and what became of it. */
	static final class Entry {

		final ConsumerRecord<byte[], byte[]> record;

		boolean handled;

		/** Whether a decision from outside of the queue keeps it from being handled. */
		boolean givenUp;

		Entry(ConsumerRecord<byte[], byte[]> record) {
			this.record = record;
		}

		void giveUp() {
			this.givenUp = true;
		}

		boolean isOpen() {
			return !this.handled && !this.givenUp;
		}

	}

}
