package io.queuestarter.testkit;

import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.Stage;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;

/**
 * Records, polls and assignments without a broker.
 */
public final class Records {

	private Records() {
	}

	public static TopicPartition partition(int number) {
		return new TopicPartition("orders", number);
	}

	public static ConsumerRecord<byte[], byte[]> record(TopicPartition partition, long offset, int bytes) {
		return record(partition, offset, bytes, Optional.empty());
	}

	private static ConsumerRecord<byte[], byte[]> record(TopicPartition partition, long offset, int bytes,
			Optional<Integer> leaderEpoch) {
		return new ConsumerRecord<>(partition.topic(), partition.partition(), offset, 0L, TimestampType.CREATE_TIME, -1,
				bytes, null, new byte[bytes], new RecordHeaders(), leaderEpoch);
	}

	/**
	 * Records of 10 bytes at the offsets from {@code from} on, {@code to} excluded,
	 * written under a leader.
	 */
	public static List<ConsumerRecord<byte[], byte[]>> range(TopicPartition partition, long from, long to,
			int leaderEpoch) {
		return LongStream.range(from, to)
			.mapToObj((offset) -> record(partition, offset, 10, Optional.of(leaderEpoch)))
			.toList();
	}

	/**
	 * Records of 10 bytes at the given offsets.
	 */
	public static List<ConsumerRecord<byte[], byte[]>> records(TopicPartition partition, long... offsets) {
		return Arrays.stream(offsets).mapToObj((offset) -> record(partition, offset, 10)).toList();
	}

	/**
	 * Records of 10 bytes at the offsets from {@code from} on, {@code to} excluded.
	 */
	public static List<ConsumerRecord<byte[], byte[]>> range(TopicPartition partition, long from, long to) {
		return records(partition, LongStream.range(from, to).toArray());
	}

	@SafeVarargs
	public static ConsumerRecords<byte[], byte[]> polled(List<ConsumerRecord<byte[], byte[]>>... lists) {
		Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
		Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
		for (List<ConsumerRecord<byte[], byte[]>> list : lists) {
			ConsumerRecord<byte[], byte[]> last = list.get(list.size() - 1);
			TopicPartition partition = new TopicPartition(last.topic(), last.partition());
			records.put(partition, list);
			next.put(partition, new OffsetAndMetadata(last.offset() + 1));
		}
		return new ConsumerRecords<>(records, next);
	}

	/**
	 * An assignment that starts at offset 0, with room for 10,000 records and a mebibyte.
	 */
	public static Assignment assignment(Dispatcher<Delivery> dispatcher) {
		ByteBudget common = new ByteBudget(1 << 20, () -> {
		});
		return assignment(dispatcher, 0, OffsetRanges.EMPTY, common, () -> {
		});
	}

	public static Assignment assignment(Dispatcher<Delivery> dispatcher, long watermark, OffsetRanges restored,
			ByteBudget common, Runnable headListener) {
		ByteBudget own = new ByteBudget(1 << 20, () -> {
		});
		return new Assignment(partition(0), Stage.source(partition(0).topic()),
				new PartitionLedger<>(10_000, watermark, restored), 0, -1, LaneQueues.of(dispatcher.open(0)), common,
				own, headListener);
	}

}
