package io.queuestarter.testkit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.deadletter.DeadLetterHeaders;

/**
 * A record of a dead-letter topic, as a tool would read it.
 *
 * @param record the record
 */
public record DeadLetter(ConsumerRecord<byte[], byte[]> record) {

	/** Waits until the dead-letter topic of a topic holds so many records. */
	public static List<DeadLetter> await(String source, int count) {
		return awaitIn(source + "-dlq", count);
	}

	/** Waits until a topic holds so many records. */
	public static List<DeadLetter> awaitIn(String topic, int count) {
		QueueApp.eventually().ignoreExceptions().until(() -> count(topic) >= count);
		return Broker.records(topic).stream().map(DeadLetter::new).toList();
	}

	/** Waits until a topic holds one record, and fails if it holds more. */
	public static DeadLetter awaitOne(String source) {
		List<DeadLetter> letters = await(source, 1);
		if (letters.size() != 1) {
			throw new AssertionError("Expected one dead letter: " + letters);
		}
		return letters.get(0);
	}

	/** Number of records in a topic, 0 if it does not exist. */
	public static long count(String topic) {
		long count = 0;
		for (int partition = 0; partition < Broker.partitionsOf(topic); partition++) {
			TopicPartition key = new TopicPartition(topic, partition);
			count += Broker.await(Broker.admin().listOffsets(Map.of(key, OffsetSpec.latest())).partitionResult(key))
				.offset();
		}
		return count;
	}

	/** Value as text. */
	public @Nullable String value() {
		return (this.record.value() != null) ? new String(this.record.value(), StandardCharsets.UTF_8) : null;
	}

	/** Why it was dead-lettered. */
	public String reason() {
		return text(DeadLetterHeaders.REASON);
	}

	/** Number of attempts made. */
	public int attempts() {
		return Integer.parseInt(text(DeadLetterHeaders.ATTEMPTS));
	}

	/** Class of the exception. */
	public String exception() {
		return text(KafkaHeaders.DLT_EXCEPTION_FQCN);
	}

	/** Offset in the source partition. */
	public long originalOffset() {
		return ByteBuffer.wrap(bytes(KafkaHeaders.DLT_ORIGINAL_OFFSET)).getLong();
	}

	/** Partition of the source topic. */
	public int originalPartition() {
		return ByteBuffer.wrap(bytes(KafkaHeaders.DLT_ORIGINAL_PARTITION)).getInt();
	}

	/** A header that must be there, as text. */
	public String text(String header) {
		return new String(bytes(header), StandardCharsets.UTF_8);
	}

	/** A header that must be there and have a value. */
	public byte[] bytes(String header) {
		return find(header).map(Header::value)
			.orElseThrow(() -> new AssertionError("No header '" + header + "' in " + this.record.headers()));
	}

	/** A header. */
	public Optional<Header> find(String header) {
		return Optional.ofNullable(this.record.headers().lastHeader(header));
	}

}
