package io.queuestarter.browse;

import java.time.Instant;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.retrytopic.RetryTopicHeaders;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.QueueRejectException;
import io.queuestarter.deadletter.DeadLetterHeaders;

/**
 * What a record of a dead-letter topic says of its origin and end, in our headers or in
 * those that Spring Kafka writes. Facts that no header tells, or that a header tells in a
 * form that it never has, are absent. Each is looked for when it is asked for, and never
 * fails, whatever the headers hold. <em>Not thread-safe</em>, since Kafka's headers are
 * not.
 */
public final class DeadLetter {

	private final ConsumerRecord<byte[], byte[]> record;

	private final LetterHeaders headers;

	private final TopicPartition partition;

	private DeadLetter(ConsumerRecord<byte[], byte[]> record) {
		this.record = record;
		this.headers = new LetterHeaders(record.headers());
		this.partition = new TopicPartition(record.topic(), record.partition());
	}

	/**
	 * Reads a dead letter.
	 * @param record a record of a dead-letter topic
	 * @return what it says
	 */
	public static DeadLetter of(ConsumerRecord<byte[], byte[]> record) {
		return new DeadLetter(record);
	}

	/**
	 * The record as it lies in the dead-letter topic.
	 * @return the record
	 */
	public ConsumerRecord<byte[], byte[]> record() {
		return this.record;
	}

	/**
	 * Topic in which the record was read first.
	 * @return the topic, if a header tells
	 */
	public @Nullable String originTopic() {
		return this.headers.text(KafkaHeaders.DLT_ORIGINAL_TOPIC, KafkaHeaders.ORIGINAL_TOPIC);
	}

	/**
	 * Partition in which the record was read first.
	 * @return the partition, if a header tells
	 */
	public @Nullable Integer originPartition() {
		return this.headers.fourBytes(KafkaHeaders.DLT_ORIGINAL_PARTITION, KafkaHeaders.ORIGINAL_PARTITION);
	}

	/**
	 * Offset at which the record was read first.
	 * @return the offset, if a header tells
	 */
	public @Nullable Long originOffset() {
		return this.headers.eightBytes(KafkaHeaders.DLT_ORIGINAL_OFFSET, KafkaHeaders.ORIGINAL_OFFSET);
	}

	/**
	 * Timestamp of the record where it was read first. Behind retry topics Spring Kafka
	 * keeps it in a header apart.
	 * @return the timestamp, if a header tells
	 */
	public @Nullable Instant originTimestamp() {
		Long millis = this.headers.eightBytes(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP, KafkaHeaders.ORIGINAL_TIMESTAMP);
		if (millis == null) {
			millis = this.headers.anyBytes(RetryTopicHeaders.DEFAULT_HEADER_ORIGINAL_TIMESTAMP);
		}
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	/**
	 * Consumer group that read the record.
	 * @return the group, if a header tells
	 */
	public @Nullable String group() {
		return this.headers.text(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP);
	}

	/**
	 * Queue that read the record.
	 * @return its id, if a header tells
	 */
	public @Nullable String listener() {
		return this.headers.text(DeadLetterHeaders.LISTENER);
	}

	/**
	 * Why it was dead-lettered.
	 * @return the reason as {@link io.queuestarter.deadletter.DeadLetterReason#tag()}, if
	 * a header tells
	 */
	public @Nullable String reason() {
		return this.headers.text(DeadLetterHeaders.REASON);
	}

	/**
	 * Attempts made.
	 * @return the number, 0 if not known
	 */
	public int attempts() {
		int ours = this.headers.decimal(DeadLetterHeaders.ATTEMPTS);
		if (ours >= 0) {
			return ours;
		}
		Long springs = this.headers.anyBytes(RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS);
		return (springs != null && springs <= Integer.MAX_VALUE) ? springs.intValue() : 0;
	}

	/**
	 * Times that it was merged back before it was dead-lettered again.
	 * @return the number
	 */
	public int merges() {
		return Math.max(0, this.headers.decimal(DeadLetterHeaders.MERGES));
	}

	/**
	 * Class of the exception that its last attempt ended with.
	 * @return the class, if a header tells
	 */
	public @Nullable String exception() {
		return this.headers.text(KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.EXCEPTION_FQCN,
				KafkaHeaders.DLT_KEY_EXCEPTION_FQCN, KafkaHeaders.KEY_EXCEPTION_FQCN);
	}

	/**
	 * Class of the cause of that exception.
	 * @return the class, if a header tells
	 */
	public @Nullable String cause() {
		return this.headers.text(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, KafkaHeaders.EXCEPTION_CAUSE_FQCN);
	}

	/**
	 * Message of that exception.
	 * @return the message, if a header tells
	 */
	public @Nullable String message() {
		return this.headers.text(KafkaHeaders.DLT_EXCEPTION_MESSAGE, KafkaHeaders.EXCEPTION_MESSAGE,
				KafkaHeaders.DLT_KEY_EXCEPTION_MESSAGE, KafkaHeaders.KEY_EXCEPTION_MESSAGE);
	}

	/**
	 * What it is counted as: the exception, or its cause where the exception only passes
	 * on what the handler says of its record.
	 * @return the class, or {@code unknown}
	 */
	public String kind() {
		String type = exception();
		String cause = QueueRejectException.class.getName().equals(type) ? cause() : null;
		return (cause != null) ? cause : (type != null) ? type : "unknown";
	}

	/**
	 * Partition of the dead-letter topic.
	 * @return topic and partition
	 */
	public TopicPartition partition() {
		return this.partition;
	}

	/**
	 * Offset in the dead-letter topic.
	 * @return the offset
	 */
	public long offset() {
		return this.record.offset();
	}

	/**
	 * When it was dead-lettered.
	 * @return timestamp in the dead-letter topic
	 */
	public Instant timestamp() {
		return Instant.ofEpochMilli(this.record.timestamp());
	}

}
