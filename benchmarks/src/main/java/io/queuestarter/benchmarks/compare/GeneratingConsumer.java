package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntUnaryOperator;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * A consumer whose polls make up to 500 records of one partition, the partitions in turn.
 * As the real one it hands out nothing of paused partitions, waits while there is
 * nothing, and ends the wait when it is woken. Committed offsets may be asked by any
 * thread.
 */
final class GeneratingConsumer<K> extends MockConsumer<K, byte[]> {

	private static final int MOST = 500;

	private final List<TopicPartition> partitions = new ArrayList<>();

	private final Load load;

	private final IntUnaryOperator numbers;

	private final Deserializer<K> keys;

	private final int[] next;

	private final Map<TopicPartition, Long> committed = new ConcurrentHashMap<>();

	private boolean assigned;

	private int turn;

	GeneratingConsumer(String topic, Load load, Deserializer<K> keys) {
		super("earliest");
		this.load = load;
		this.numbers = load.keys().byNumber();
		this.keys = keys;
		this.next = new int[load.partitions()];
		Map<TopicPartition, Long> beginnings = new HashMap<>();
		for (int partition = 0; partition < load.partitions(); partition++) {
			this.partitions.add(new TopicPartition(topic, partition));
			beginnings.put(this.partitions.get(partition), 0L);
		}
		updateBeginningOffsets(beginnings);
	}

	/** May return early, as polls may. */
	@Override
	@SuppressWarnings("WaitNotInLoop")
	public synchronized ConsumerRecords<K, byte[]> poll(Duration timeout) {
		if (!this.assigned) {
			this.assigned = true;
			rebalance(this.partitions);
		}
		// Throws if it is woken.
		super.poll(Duration.ZERO);
		ConsumerRecords<K, byte[]> records = generate();
		if (records.isEmpty() && timeout.toMillis() > 0) {
			try {
				wait(timeout.toMillis());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			super.poll(Duration.ZERO);
		}
		return records;
	}

	private ConsumerRecords<K, byte[]> generate() {
		Set<TopicPartition> paused = paused();
		for (int i = 0; i < this.next.length; i++) {
			int partition = this.turn++ % this.next.length;
			int left = this.load.backlogOf(partition) - this.next[partition];
			if (left > 0 && (paused.isEmpty() || !paused.contains(this.partitions.get(partition)))) {
				return generate(partition, Math.min(MOST, left));
			}
		}
		return ConsumerRecords.empty();
	}

	private ConsumerRecords<K, byte[]> generate(int number, int count) {
		TopicPartition partition = this.partitions.get(number);
		List<ConsumerRecord<K, byte[]>> records = new ArrayList<>(count);
		for (int i = 0; i < count; i++) {
			int offset = this.next[number]++;
			int id = this.load.numberOf(number, offset);
			byte[] key = Cluster.key(this.numbers.applyAsInt(id));
			byte[] value = Probe.value(id, 0, this.load.valueBytes());
			records.add(new ConsumerRecord<>(partition.topic(), number, offset, 0L, TimestampType.CREATE_TIME,
					key.length, value.length, this.keys.deserialize(partition.topic(), key), value, new RecordHeaders(),
					Optional.empty()));
		}
		return new ConsumerRecords<>(Map.of(partition, records),
				Map.of(partition, new OffsetAndMetadata(this.next[number])));
	}

	@Override
	public synchronized void wakeup() {
		super.wakeup();
		notifyAll();
	}

	@Override
	public synchronized void resume(Collection<TopicPartition> resumed) {
		super.resume(resumed);
		notifyAll();
	}

	@Override
	public synchronized void seek(TopicPartition partition, long offset) {
		super.seek(partition, offset);
		this.next[partition.partition()] = (int) offset;
	}

	@Override
	public synchronized long position(TopicPartition partition) {
		return this.next[partition.partition()];
	}

	/** Commits what was polled. */
	@Override
	public synchronized void commitAsync(@Nullable OffsetCommitCallback callback) {
		Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
		for (TopicPartition partition : this.partitions) {
			offsets.put(partition, new OffsetAndMetadata(this.next[partition.partition()]));
		}
		commitAsync(offsets, callback);
	}

	@Override
	public synchronized void commitAsync(Map<TopicPartition, OffsetAndMetadata> offsets,
			@Nullable OffsetCommitCallback callback) {
		super.commitAsync(offsets, callback);
		offsets.forEach((partition, offset) -> this.committed.put(partition, offset.offset()));
	}

	long committedRecords() {
		return this.committed.values().stream().mapToLong(Long::longValue).sum();
	}

}
