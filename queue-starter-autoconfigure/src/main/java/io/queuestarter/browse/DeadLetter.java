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
 * form that it never has, are absent.
 *
 * @param record the record as it lies in the dead-letter topic
 * @param originTopic topic in which the record was read first
 * @param originPartition its partition there
 * @param originOffset its offset there
 * @param originTimestamp its timestamp there
 * @param group consumer group that read it
 * @param listener queue that read it
 * @param reason why it was dead-lettered, as
 * {@link io.queuestarter.deadletter.DeadLetterReason#tag()}
 * @param attempts attempts made, 0 if not known
 * @param merges times that it was merged back before it was dead-lettered again
 * @param exception class of the exception that its last attempt ended with
 * @param cause class of the cause of that exception
 * @param message message of that exception
 */
public record DeadLetter(ConsumerRecord<byte[], byte[]> record, @Nullable String originTopic,
		@Nullable Integer originPartition, @Nullable Long originOffset, @Nullable Instant originTimestamp,
		@Nullable String group, @Nullable String listener, @Nullable String reason, int attempts, int merges,
		@Nullable String exception, @Nullable String cause, @Nullable String message) {

	/**
	 * Reads a dead letter. Never fails, whatever the headers hold.
	 * @param record a record of a dead-letter topic
	 * @return what it says
	 */
	public static DeadLetter of(ConsumerRecord<byte[], byte[]> record) {
		LetterHeaders headers = new LetterHeaders(record.headers());
		return new DeadLetter(record, headers.text(KafkaHeaders.DLT_ORIGINAL_TOPIC, KafkaHeaders.ORIGINAL_TOPIC),
				headers.fourBytes(KafkaHeaders.DLT_ORIGINAL_PARTITION, KafkaHeaders.ORIGINAL_PARTITION),
				headers.eightBytes(KafkaHeaders.DLT_ORIGINAL_OFFSET, KafkaHeaders.ORIGINAL_OFFSET),
				originTimestamp(headers), headers.text(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP),
				headers.text(DeadLetterHeaders.LISTENER), headers.text(DeadLetterHeaders.REASON), attempts(headers),
				Math.max(0, headers.decimal(DeadLetterHeaders.MERGES)),
				headers.text(KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.EXCEPTION_FQCN,
						KafkaHeaders.DLT_KEY_EXCEPTION_FQCN, KafkaHeaders.KEY_EXCEPTION_FQCN),
				headers.text(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, KafkaHeaders.EXCEPTION_CAUSE_FQCN),
				headers.text(KafkaHeaders.DLT_EXCEPTION_MESSAGE, KafkaHeaders.EXCEPTION_MESSAGE,
						KafkaHeaders.DLT_KEY_EXCEPTION_MESSAGE, KafkaHeaders.KEY_EXCEPTION_MESSAGE));
	}

	/** Behind retry topics Spring Kafka keeps the first timestamp in a header apart. */
	private static @Nullable Instant originTimestamp(LetterHeaders headers) {
		Long millis = headers.eightBytes(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP, KafkaHeaders.ORIGINAL_TIMESTAMP);
		if (millis == null) {
			millis = headers.anyBytes(RetryTopicHeaders.DEFAULT_HEADER_ORIGINAL_TIMESTAMP);
		}
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	private static int attempts(LetterHeaders headers) {
		int ours = headers.decimal(DeadLetterHeaders.ATTEMPTS);
		if (ours >= 0) {
			return ours;
		}
		Long springs = headers.anyBytes(RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS);
		return (springs != null && springs <= Integer.MAX_VALUE) ? springs.intValue() : 0;
	}

	/**
	 * What it is counted as: the exception, or its cause where the exception only passes
	 * on what the handler says of its record.
	 * @return the class, or {@code unknown}
	 */
	public String kind() {
		boolean passesOn = QueueRejectException.class.getName().equals(this.exception);
		String type = (passesOn && this.cause != null) ? this.cause : this.exception;
		return (type != null) ? type : "unknown";
	}

	/**
	 * Partition of the dead-letter topic.
	 * @return topic and partition
	 */
	public TopicPartition partition() {
		return new TopicPartition(this.record.topic(), this.record.partition());
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
