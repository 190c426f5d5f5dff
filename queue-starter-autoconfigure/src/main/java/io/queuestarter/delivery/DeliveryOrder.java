package io.queuestarter.delivery;

import java.util.Arrays;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.Ordering;
import io.queuestarter.dispatch.TaskOrder;

/**
 * Which deliveries wait for which.
 */
public final class DeliveryOrder implements TaskOrder<Delivery> {

	private final boolean byKey;

	private DeliveryOrder(boolean byKey) {
		this.byKey = byKey;
	}

	/**
	 * The order of an ordering.
	 * @param ordering the ordering
	 * @return the order, or {@code null} if no delivery waits for another
	 */
	public static @Nullable DeliveryOrder of(Ordering ordering) {
		return switch (ordering) {
			case UNORDERED -> null;
			case KEY -> new DeliveryOrder(true);
			case PARTITION -> new DeliveryOrder(false);
		};
	}

	@Override
	public @Nullable Object keyOf(Delivery delivery) {
		return this.byKey ? delivery.orderKey() : delivery.assignment().partition();
	}

	@Override
	public boolean isOver(Delivery delivery) {
		return delivery.isEnded();
	}

	/** Null if the record has no key. */
	static @Nullable Object keyOf(ConsumerRecord<byte[], byte[]> record) {
		byte[] key = record.key();
		return (key != null) ? new RecordKey(new TopicPartition(record.topic(), record.partition()), key) : null;
	}

	/**
	 * A key within its partition. Comparable, so that keys that somebody chose to have
	 * the same hash do not slow the others down.
	 */
	private static final class RecordKey implements Comparable<RecordKey> {

		private final TopicPartition partition;

		private final byte[] key;

		private final int hash;

		RecordKey(TopicPartition partition, byte[] key) {
			this.partition = partition;
			this.key = key;
			this.hash = 31 * partition.hashCode() + Arrays.hashCode(key);
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return other instanceof RecordKey that && this.hash == that.hash && this.partition.equals(that.partition)
					&& Arrays.equals(this.key, that.key);
		}

		@Override
		public int hashCode() {
			return this.hash;
		}

		@Override
		public int compareTo(RecordKey other) {
			int keys = Arrays.compare(this.key, other.key);
			if (keys != 0) {
				return keys;
			}
			int topics = this.partition.topic().compareTo(other.partition.topic());
			return (topics != 0) ? topics : Integer.compare(this.partition.partition(), other.partition.partition());
		}

	}

}
