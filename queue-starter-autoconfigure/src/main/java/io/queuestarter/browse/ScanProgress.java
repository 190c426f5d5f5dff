package io.queuestarter.browse;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Where a scan stands. A record counts as read once the visitor has seen it, so that what
 * was polled beyond is read again by the next scan. <em>Not thread-safe.</em>
 */
final class ScanProgress {

	private final Map<TopicPartition, Long> next;

	private final Map<TopicPartition, Long> ends;

	private final Set<TopicPartition> open = new HashSet<>();

	private final long maxScan;

	private final Function<DeadLetter, Verdict> visitor;

	private long scanned;

	ScanProgress(Map<TopicPartition, Long> positions, Map<TopicPartition, Long> ends, long maxScan,
			Function<DeadLetter, Verdict> visitor) {
		this.next = new HashMap<>(positions);
		this.ends = ends;
		this.maxScan = maxScan;
		this.visitor = visitor;
		positions.forEach((partition, position) -> {
			if (position < endOf(partition)) {
				this.open.add(partition);
			}
		});
	}

	private long endOf(TopicPartition partition) {
		return this.ends.getOrDefault(partition, 0L);
	}

	/** Partitions of which something is left to read. */
	Set<TopicPartition> open() {
		return Set.copyOf(this.open);
	}

	long position(TopicPartition partition) {
		return Objects.requireNonNull(this.next.get(partition));
	}

	/** Null if the scan goes on. */
	@Nullable StoppedBy accept(ConsumerRecords<byte[], byte[]> records) {
		for (TopicPartition partition : records.partitions()) {
			for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
				if (!this.open.contains(partition)) {
					break;
				}
				StoppedBy reason = accept(partition, record);
				if (reason != null) {
					return this.open.isEmpty() ? StoppedBy.END : reason;
				}
			}
		}
		return null;
	}

	private @Nullable StoppedBy accept(TopicPartition partition, ConsumerRecord<byte[], byte[]> record) {
		if (record.offset() >= endOf(partition)) {
			moved(partition, record.offset());
			return null;
		}
		if (this.scanned >= this.maxScan) {
			return StoppedBy.MAX_SCAN;
		}
		this.scanned++;
		Verdict verdict = this.visitor.apply(DeadLetter.of(record));
		moved(partition, record.offset() + 1);
		if (verdict == Verdict.LEAVE) {
			this.open.remove(partition);
		}
		return (verdict == Verdict.STOP) ? StoppedBy.LIMIT : null;
	}

	/** Also over what is no record, such as the marker of a transaction. */
	void moved(TopicPartition partition, long position) {
		long end = endOf(partition);
		this.next.merge(partition, Math.min(position, end), Math::max);
		if (position >= end) {
			this.open.remove(partition);
		}
	}

	Scan result(StoppedBy reason) {
		return new Scan(this.scanned, Map.copyOf(this.next), reason);
	}

}
