package io.queuestarter.deadletter;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;

/**
 * Headers that a dead letter carries behind those of its record. Where Spring Kafka has a
 * name for a fact, name and format are Spring Kafka's, so that tools for its dead letters
 * read ours.
 */
public final class DeadLetterHeaders {

	/**
	 * Id of the listener; text.
	 */
	public static final String LISTENER = "kafka_queue-listener";

	/**
	 * {@link DeadLetterReason#tag()}; text.
	 */
	public static final String REASON = "kafka_queue-reason";

	/**
	 * Number of attempts made; decimal text.
	 */
	public static final String ATTEMPTS = "kafka_queue-attempts";

	/** Longest exception message written, in characters. */
	static final int MAX_MESSAGE = 1024;

	/** Longest stack trace written, in characters. */
	static final int MAX_STACK_TRACE = 8192;

	private DeadLetterHeaders() {
	}

	static Headers of(ConsumerRecord<byte[], byte[]> record, Failure failure, String listener, String group) {
		Headers headers = brief(record, failure, listener, group);
		String message = messageOf(failure.error());
		if (message != null) {
			headers.add(KafkaHeaders.DLT_EXCEPTION_MESSAGE, text(cut(message, MAX_MESSAGE)));
		}
		headers.add(KafkaHeaders.DLT_EXCEPTION_STACKTRACE, text(cut(stackTraceOf(failure.error()), MAX_STACK_TRACE)));
		return headers;
	}

	/**
	 * Headers without message and stack trace, for a letter that is too large with them.
	 */
	static Headers brief(ConsumerRecord<byte[], byte[]> record, Failure failure, String listener, String group) {
		Headers headers = new RecordHeaders();
		for (Header header : record.headers()) {
			headers.add(header);
		}
		headers.add(KafkaHeaders.DLT_ORIGINAL_TOPIC, text(record.topic()));
		headers.add(KafkaHeaders.DLT_ORIGINAL_PARTITION,
				ByteBuffer.allocate(Integer.BYTES).putInt(record.partition()).array());
		headers.add(KafkaHeaders.DLT_ORIGINAL_OFFSET, ByteBuffer.allocate(Long.BYTES).putLong(record.offset()).array());
		headers.add(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP,
				ByteBuffer.allocate(Long.BYTES).putLong(record.timestamp()).array());
		headers.add(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP_TYPE, text(record.timestampType().toString()));
		headers.add(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP, text(group));
		headers.add(LISTENER, text(listener));
		headers.add(REASON, text(failure.reason().tag()));
		headers.add(ATTEMPTS, text(Integer.toString(failure.attempts())));
		headers.add(KafkaHeaders.DLT_EXCEPTION_FQCN, text(failure.error().getClass().getName()));
		Throwable cause = causeOf(failure.error());
		if (cause != null) {
			headers.add(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, text(cause.getClass().getName()));
		}
		return headers;
	}

	private static @Nullable Throwable causeOf(Throwable error) {
		try {
			return error.getCause();
		}
		catch (Throwable ex) {
			return null;
		}
	}

	private static @Nullable String messageOf(Throwable error) {
		try {
			return error.getMessage();
		}
		catch (Throwable ex) {
			return "(no message: " + ex.getClass().getName() + ")";
		}
	}

	private static String stackTraceOf(Throwable error) {
		StringWriter trace = new StringWriter();
		try {
			error.printStackTrace(new PrintWriter(trace));
		}
		catch (Throwable ex) {
			trace.append("(no stack trace: ").append(ex.getClass().getName()).append(')');
		}
		return trace.toString();
	}

	private static String cut(String text, int length) {
		return (text.length() <= length) ? text : text.substring(0, length - 3) + "...";
	}

	private static byte[] text(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
