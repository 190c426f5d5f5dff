package io.queuestarter.deadletter;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.delivery.History;

/**
 * Headers that a dead letter, or a record in a retry topic, carries behind those of its
 * record. Where Spring Kafka has a name for a fact, name and format are Spring Kafka's,
 * so that tools for its dead letters read ours.
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
	public static final String ATTEMPTS = History.ATTEMPTS;

	/**
	 * Times that the record was merged back from the dead-letter topic; decimal text,
	 * absent for 0.
	 */
	public static final String MERGES = History.MERGES;

	/**
	 * Size of the value that a stub stands for, in bytes; decimal text. The value is in
	 * the original topic, as long as it keeps it.
	 */
	public static final String DROPPED_BYTES = "kafka_queue-dropped-bytes";

	/** What may have been written behind the headers of a record. */
	private static final Set<String> OURS = Set.of(KafkaHeaders.DLT_ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_PARTITION,
			KafkaHeaders.DLT_ORIGINAL_OFFSET, KafkaHeaders.DLT_ORIGINAL_TIMESTAMP,
			KafkaHeaders.DLT_ORIGINAL_TIMESTAMP_TYPE, KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP,
			KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, KafkaHeaders.DLT_EXCEPTION_MESSAGE,
			KafkaHeaders.DLT_EXCEPTION_STACKTRACE, LISTENER, REASON, ATTEMPTS, History.RETRIES, History.TIMEOUTS,
			MERGES);

	/** Longest exception message written, in characters. */
	static final int MAX_MESSAGE = 1024;

	/** Longest stack trace written, in characters. */
	static final int MAX_STACK_TRACE = 8192;

	private DeadLetterHeaders() {
	}

	static Headers of(Passage passage, String listener, String group) {
		Headers headers = brief(passage, listener, group);
		Failure failure = passage.failure();
		String message = messageOf(failure.error());
		if (message != null) {
			headers.add(KafkaHeaders.DLT_EXCEPTION_MESSAGE, text(cut(message, MAX_MESSAGE)));
		}
		headers.add(KafkaHeaders.DLT_EXCEPTION_STACKTRACE, text(cut(stackTraceOf(failure.error()), MAX_STACK_TRACE)));
		return headers;
	}

	/**
	 * Headers of a record that takes the place of another: that record's own, with what
	 * happened to it behind them.
	 */
	static Headers brief(Passage passage, String listener, String group) {
		Failure failure = passage.failure();
		Headers headers = new RecordHeaders();
		Map<String, Header> before = new HashMap<>();
		List<Header> kept = new ArrayList<>(List.of(passage.record().headers().toArray()));
		if (passage.isFromOwnTopic()) {
			takeOurs(kept, before);
		}
		kept.forEach(headers::add);
		origin(passage.record())
			.forEach((name, value) -> headers.add(before.getOrDefault(name, new RecordHeader(name, value))));
		headers.add(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP, text(group));
		if (passage.isForOwnTopic() || passage.retries() > 0) {
			headers.add(History.RETRIES, text(Integer.toString(passage.retries())));
		}
		if (passage.isForOwnTopic() || passage.timeouts() > 0) {
			headers.add(History.TIMEOUTS, text(Integer.toString(passage.timeouts())));
		}
		if (passage.merges() > 0) {
			headers.add(History.MERGES, text(Integer.toString(passage.merges())));
		}
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

	/**
	 * Headers that a record had before it was dead-lettered.
	 * @param letter a dead letter
	 * @return a copy without what was written behind them
	 */
	public static Headers original(ConsumerRecord<?, ?> letter) {
		List<Header> kept = new ArrayList<>(List.of(letter.headers().toArray()));
		takeOurs(kept, new HashMap<>());
		return new RecordHeaders(kept);
	}

	/** Where a record was read, as Spring Kafka writes it. */
	private static Map<String, byte[]> origin(ConsumerRecord<?, ?> record) {
		Map<String, byte[]> origin = new LinkedHashMap<>();
		origin.put(KafkaHeaders.DLT_ORIGINAL_TOPIC, text(record.topic()));
		origin.put(KafkaHeaders.DLT_ORIGINAL_PARTITION,
				ByteBuffer.allocate(Integer.BYTES).putInt(record.partition()).array());
		origin.put(KafkaHeaders.DLT_ORIGINAL_OFFSET, ByteBuffer.allocate(Long.BYTES).putLong(record.offset()).array());
		origin.put(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP,
				ByteBuffer.allocate(Long.BYTES).putLong(record.timestamp()).array());
		origin.put(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP_TYPE, text(record.timestampType().toString()));
		return origin;
	}

	/**
	 * Takes out what was written behind the headers of a record when it was written to
	 * one of our topics: the last header of each name.
	 */
	private static void takeOurs(List<Header> headers, Map<String, Header> ours) {
		for (int i = headers.size() - 1; i >= 0; i--) {
			Header header = headers.get(i);
			if (OURS.contains(header.key()) && ours.putIfAbsent(header.key(), header) == null) {
				headers.remove(i);
			}
		}
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
