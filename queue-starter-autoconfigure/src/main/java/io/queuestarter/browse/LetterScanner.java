package io.queuestarter.browse;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads dead-letter topics with a consumer of its own, which is in no group and commits
 * nothing. Partitions are read side by side. <em>Not thread-safe.</em>
 */
public final class LetterScanner implements AutoCloseable {

	private static final Duration POLL = Duration.ofMillis(200);

	private static final Duration CLOSE = Duration.ofMillis(500);

	/** Clients of one name would stand in each other's way as MBeans. */
	private static final AtomicLong NUMBER = new AtomicLong();

	private final Consumer<byte[], byte[]> consumer;

	private final LongSupplier nanoTime;

	LetterScanner(Consumer<byte[], byte[]> consumer, LongSupplier nanoTime) {
		this.consumer = consumer;
		this.nanoTime = nanoTime;
	}

	/**
	 * Opens a scanner. Connects when it is first used.
	 * @param properties how the application's consumers connect
	 * @param nanoTime where time is read
	 * @return the scanner, to be closed
	 */
	public static LetterScanner open(Map<String, Object> properties, LongSupplier nanoTime) {
		try {
			return new LetterScanner(
					new KafkaConsumer<>(reader(properties), new ByteArrayDeserializer(), new ByteArrayDeserializer()),
					nanoTime);
		}
		catch (KafkaException ex) {
			throw new BrowseException("No reader of dead letters could be made: " + ex.getMessage(), ex);
		}
	}

	/** What the application says of connection and isolation, and nothing of groups. */
	static Map<String, Object> reader(Map<String, Object> consumer) {
		Map<String, Object> properties = new HashMap<>(consumer);
		properties.keySet()
			.removeAll(List.of(ConsumerConfig.GROUP_ID_CONFIG, ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
					ConsumerConfig.GROUP_PROTOCOL_CONFIG, ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG,
					ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
					ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG));
		properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
		// Only if retention overtakes the scan.
		properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 500);
		properties.put(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 1);
		properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 200);
		properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 8 * 1024 * 1024);
		properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 1024 * 1024);
		properties.put(ConsumerConfig.CLIENT_ID_CONFIG, "queue-dead-letter-reader-" + NUMBER.incrementAndGet());
		return properties;
	}

	/**
	 * Looks where logs begin and end.
	 * @param partitions the partitions
	 * @param timeout longest time that it takes
	 * @return begin and end by partition
	 * @throws BrowseException if the broker did not answer in time, or refused
	 */
	public Map<TopicPartition, LogSpan> spans(Collection<TopicPartition> partitions, Duration timeout) {
		if (partitions.isEmpty()) {
			return Map.of();
		}
		Deadline deadline = new Deadline(timeout, this.nanoTime);
		return ask("where " + partitions + " begin and end", () -> {
			Map<TopicPartition, Long> ends = this.consumer.endOffsets(partitions, deadline.remaining());
			Map<TopicPartition, Long> starts = this.consumer.beginningOffsets(partitions, deadline.remaining());
			Map<TopicPartition, LogSpan> spans = new HashMap<>();
			partitions.forEach((partition) -> spans.put(partition,
					new LogSpan(starts.getOrDefault(partition, 0L), ends.getOrDefault(partition, 0L))));
			return spans;
		});
	}

	/**
	 * Looks from where on a log has records of a time or later.
	 * @param partitions the partitions
	 * @param from the time
	 * @param timeout longest time that it takes
	 * @return lowest such offset by partition; nothing for one without such a record
	 * @throws BrowseException if the broker did not answer in time, or refused
	 */
	public Map<TopicPartition, Long> offsetsFrom(Collection<TopicPartition> partitions, Instant from,
			Duration timeout) {
		Map<TopicPartition, Long> times = new HashMap<>();
		partitions.forEach((partition) -> times.put(partition, from.toEpochMilli()));
		return ask("which records are of " + from + " or later", () -> {
			Map<TopicPartition, Long> offsets = new HashMap<>();
			for (Map.Entry<TopicPartition, @Nullable OffsetAndTimestamp> found : this.consumer
				.offsetsForTimes(times, timeout)
				.entrySet()) {
				OffsetAndTimestamp first = found.getValue();
				if (first != null) {
					offsets.put(found.getKey(), first.offset());
				}
			}
			return offsets;
		});
	}

	/**
	 * Reads dead letters until all are read, a visitor stops it, or a limit is reached.
	 * @param positions where to begin, by partition
	 * @param ends where to end, by partition: offsets that are not read any more
	 * @param maxScan largest number of records read
	 * @param timeout longest time that it takes, whatever the visitor does not take
	 * @param visitor called with each dead letter, in the order of its partition, by this
	 * thread
	 * @return how far it came
	 * @throws BrowseException if the broker refused
	 */
	public Scan scan(Map<TopicPartition, Long> positions, Map<TopicPartition, Long> ends, long maxScan,
			Duration timeout, Function<DeadLetter, Verdict> visitor) {
		Deadline deadline = new Deadline(timeout, this.nanoTime);
		ScanProgress progress = new ScanProgress(positions, ends, maxScan, visitor);
		Set<TopicPartition> open = progress.open();
		if (open.isEmpty()) {
			return progress.result(StoppedBy.END);
		}
		return ask("for records of " + open, () -> {
			this.consumer.assign(open);
			this.consumer.resume(open);
			open.forEach((partition) -> this.consumer.seek(partition, progress.position(partition)));
			StoppedBy reason = null;
			while (reason == null) {
				reason = deadline.isOver() ? StoppedBy.TIMEOUT : poll(progress, deadline);
			}
			return progress.result(reason);
		});
	}

	private @Nullable StoppedBy poll(ScanProgress progress, Deadline deadline) {
		ConsumerRecords<byte[], byte[]> records = this.consumer.poll(deadline.within(POLL).remaining());
		StoppedBy reason = progress.accept(records);
		if (reason != null) {
			return reason;
		}
		for (TopicPartition partition : progress.open()) {
			progress.moved(partition, this.consumer.position(partition, deadline.remaining()));
		}
		Set<TopicPartition> done = new HashSet<>(this.consumer.assignment());
		done.removeAll(progress.open());
		this.consumer.pause(done);
		return progress.open().isEmpty() ? StoppedBy.END : null;
	}

	private static <T> T ask(String question, Supplier<T> call) {
		try {
			return call.get();
		}
		catch (InterruptException ex) {
			throw ex;
		}
		catch (KafkaException ex) {
			throw new BrowseException("The broker was asked " + question + ": " + ex, ex);
		}
	}

	@Override
	public void close() {
		this.consumer.close(CloseOptions.timeout(CLOSE));
	}

}
