package io.queuestarter.testkit;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the dead letters of a topic as they come, past any relay, and notes in a journal
 * which records they settle. <em>Thread-safe.</em>
 */
public final class LetterBox implements AutoCloseable {

	private final String source;

	private final Journal journal;

	@GuardedBy("this")
	private final KafkaConsumer<byte[], byte[]> consumer;

	@GuardedBy("this")
	private final Map<TopicPartition, Map<Long, Integer>> letters = new HashMap<>();

	/** Opens the box for a topic whose dead-letter topic exists. */
	public LetterBox(String bootstrap, String source, Journal journal) {
		this.source = source;
		this.journal = journal;
		this.consumer = new KafkaConsumer<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap,
				ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5000), new ByteArrayDeserializer(),
				new ByteArrayDeserializer());
		List<TopicPartition> partitions = this.consumer.partitionsFor(source + "-dlq")
			.stream()
			.map((info) -> new TopicPartition(info.topic(), info.partition()))
			.toList();
		this.consumer.assign(partitions);
		this.consumer.seekToBeginning(partitions);
	}

	/** Reads to the end as of now. */
	public synchronized void empty() {
		for (Map.Entry<TopicPartition, Long> end : this.consumer.endOffsets(this.consumer.assignment()).entrySet()) {
			while (this.consumer.position(end.getKey()) < end.getValue()) {
				this.consumer.poll(Duration.ofMillis(50)).forEach(this::note);
			}
		}
	}

	private synchronized void note(ConsumerRecord<byte[], byte[]> record) {
		DeadLetter letter = new DeadLetter(record);
		TopicPartition partition = new TopicPartition(this.source, letter.originalPartition());
		this.letters.computeIfAbsent(partition, (key) -> new HashMap<>())
			.merge(letter.originalOffset(), 1, Integer::sum);
		this.journal.settle(partition, letter.originalOffset());
	}

	/** Number of records of which there is a letter. */
	public synchronized int records() {
		return this.letters.values().stream().mapToInt(Map::size).sum();
	}

	/** Number of letters beyond the first of each record. */
	public synchronized int duplicates() {
		return this.letters.values()
			.stream()
			.flatMap((offsets) -> offsets.values().stream())
			.mapToInt((count) -> count - 1)
			.sum();
	}

	@Override
	public synchronized void close() {
		this.consumer.close();
	}

}
