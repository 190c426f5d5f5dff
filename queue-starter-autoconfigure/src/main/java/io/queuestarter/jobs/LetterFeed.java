package io.queuestarter.jobs;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters of all partitions in the order in which they were written, up to the ends
 * that the logs had when the job began. <em>Job thread only.</em>
 */
final class LetterFeed {

	/** Letters of all partitions that wait to be taken while more are fetched. */
	private static final int AHEAD = 5_000;

	private final Consumer<byte[], byte[]> consumer;

	private final int ahead;

	private final Map<TopicPartition, Long> ends;

	/** Next offset to be taken. */
	private final Map<TopicPartition, Long> positions;

	private final Map<TopicPartition, ArrayDeque<ConsumerRecord<byte[], byte[]>>> polled = new HashMap<>();

	/** Partitions that have come to their ends. */
	private final Set<TopicPartition> exhausted = new HashSet<>();

	/** Those of them that were read to their ends. */
	private final Set<TopicPartition> read = new HashSet<>();

	LetterFeed(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> starts, Map<TopicPartition, Long> ends) {
		this.consumer = consumer;
		this.positions = new HashMap<>(starts);
		this.ends = ends;
		this.ahead = Math.max(1, AHEAD / Math.max(1, starts.size()));
		starts.forEach((partition, start) -> {
			this.polled.put(partition, new ArrayDeque<>());
			if (start < ends.getOrDefault(partition, 0L)) {
				consumer.seek(partition, start);
			}
			else {
				this.exhausted.add(partition);
			}
		});
	}

	/** Whether nothing is left to be taken. */
	boolean isExhausted() {
		return this.exhausted.size() == this.polled.size()
				&& this.polled.values().stream().allMatch(ArrayDeque::isEmpty);
	}

	/**
	 * Polls partitions of which little waits to be taken; the group is told in any case
	 * that the job lives.
	 * @param consumes whether records may be fetched
	 */
	void poll(Duration timeout, boolean consumes) {
		Set<TopicPartition> assigned = this.consumer.assignment();
		List<TopicPartition> wanted = new ArrayList<>();
		if (consumes) {
			this.polled.forEach((partition, waiting) -> {
				if (waiting.size() < this.ahead && !this.exhausted.contains(partition)
						&& assigned.contains(partition)) {
					wanted.add(partition);
				}
			});
		}
		Collection<TopicPartition> others = new HashSet<>(assigned);
		others.removeAll(wanted);
		this.consumer.pause(others);
		this.consumer.resume(wanted);
		ConsumerRecords<byte[], byte[]> records = this.consumer.poll(timeout);
		for (ConsumerRecord<byte[], byte[]> record : records) {
			TopicPartition partition = new TopicPartition(record.topic(), record.partition());
			ArrayDeque<ConsumerRecord<byte[], byte[]>> waiting = this.polled.get(partition);
			if (waiting != null && record.offset() < this.ends.getOrDefault(partition, 0L)) {
				waiting.add(record);
			}
		}
		for (TopicPartition partition : wanted) {
			if (this.consumer.assignment().contains(partition)
					&& this.consumer.position(partition) >= this.ends.getOrDefault(partition, 0L)) {
				this.exhausted.add(partition);
				this.read.add(partition);
			}
		}
	}

	/** The oldest letter of all, or null if others must be polled first to tell. */
	@Nullable ConsumerRecord<byte[], byte[]> peek() {
		ConsumerRecord<byte[], byte[]> oldest = null;
		for (Map.Entry<TopicPartition, ArrayDeque<ConsumerRecord<byte[], byte[]>>> entry : this.polled.entrySet()) {
			ConsumerRecord<byte[], byte[]> first = entry.getValue().peek();
			if (first == null) {
				if (!this.exhausted.contains(entry.getKey())) {
					return null;
				}
			}
			else if (oldest == null || first.timestamp() < oldest.timestamp()) {
				oldest = first;
			}
		}
		return oldest;
	}

	/**
	 * Takes what was peeked at.
	 * @return offset that was expected: those up to the record hold none
	 */
	long take(ConsumerRecord<byte[], byte[]> record) {
		TopicPartition partition = new TopicPartition(record.topic(), record.partition());
		this.polled.getOrDefault(partition, new ArrayDeque<>()).remove();
		Long expected = this.positions.put(partition, record.offset() + 1);
		return (expected != null) ? expected : record.offset();
	}

	/**
	 * Tells of offsets behind the last record of partitions that were read to their ends.
	 * @param sink told of the partition, and the first and the last of them
	 */
	void forEachTail(TailSink sink) {
		for (TopicPartition partition : this.read) {
			ArrayDeque<ConsumerRecord<byte[], byte[]>> waiting = this.polled.get(partition);
			Long position = this.positions.get(partition);
			long end = this.ends.getOrDefault(partition, 0L);
			if (position != null && position < end && (waiting == null || waiting.isEmpty())) {
				sink.accept(partition, position, end - 1);
			}
		}
	}

	/** Next offset to be taken by partition, or the end. */
	Map<TopicPartition, Long> positions() {
		Map<TopicPartition, Long> reached = new HashMap<>(this.positions);
		for (TopicPartition partition : this.exhausted) {
			ArrayDeque<ConsumerRecord<byte[], byte[]>> waiting = this.polled.get(partition);
			if (waiting == null || waiting.isEmpty()) {
				reached.merge(partition, this.ends.getOrDefault(partition, 0L), Math::max);
			}
		}
		return reached;
	}

	/** Told of offsets that hold no record. */
	interface TailSink {

		void accept(TopicPartition partition, long first, long last);

	}

}
