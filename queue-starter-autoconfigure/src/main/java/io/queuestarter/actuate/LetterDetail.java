package io.queuestarter.actuate;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A dead letter as operators see it.
 *
 * @param topic its dead-letter topic
 * @param dlq partition and offset there, such as {@code 0@88}
 * @param timestamp when it was dead-lettered
 * @param resolved whether it was merged or purged
 * @param origin where the record was read
 * @param group consumer group that read it
 * @param listener queue that read it
 * @param lane lane that its record belongs to, by the rules of the queue asked for
 * @param reason why it was dead-lettered
 * @param attempts attempts made
 * @param mergeCount times that it was merged and came back
 * @param exception what its last attempt ended with
 * @param traceId trace that the record belongs to
 * @param key its key
 * @param keyEncoding {@code base64} if the key is no text
 * @param headers its headers in their order
 * @param payload its value
 * @param encoding {@code base64} if the value is no text
 * @param payloadSize bytes of the value, -1 if there is none
 * @param truncated whether only the begin of the value is shown
 * @param masked whether something is hidden
 */
public record LetterDetail(String topic, String dlq, Instant timestamp, boolean resolved, Origin origin,
		@Nullable String group, @Nullable String listener, String lane, @Nullable String reason, int attempts,
		int mergeCount, @Nullable Thrown exception, @Nullable String traceId, @Nullable String key,
		@Nullable String keyEncoding, List<HeaderDetail> headers, @Nullable String payload, @Nullable String encoding,
		int payloadSize, boolean truncated, boolean masked) {

	/**
	 * Where the record was read, as far as its headers tell.
	 *
	 * @param topic its topic
	 * @param partition its partition
	 * @param offset its offset
	 * @param timestamp its timestamp
	 */
	public record Origin(@Nullable String topic, @Nullable Integer partition, @Nullable Long offset,
			@Nullable Instant timestamp) {

	}

	/**
	 * What an attempt ended with.
	 *
	 * @param type class of the exception
	 * @param cause class of its cause
	 * @param message its message
	 */
	public record Thrown(@Nullable String type, @Nullable String cause, @Nullable String message) {

	}

	/**
	 * A header.
	 *
	 * @param name its name
	 * @param value its value
	 * @param encoding {@code base64} if the value is no text
	 */
	public record HeaderDetail(String name, @Nullable String value, @Nullable String encoding) {

	}

}
