package io.queuestarter.jobs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

import io.queuestarter.deadletter.DeadLetterHeaders;

/**
 * What is changed in a dead letter before it is handled again. The letter itself stays in
 * its topic as it is.
 *
 * @param value the new value, or {@code null} to keep it
 * @param headers new values of headers by name; {@code null} takes a header out
 */
public record Edit(byte @Nullable [] value, Map<String, @Nullable String> headers) {

	/**
	 * Header of what was edited, with the coordinates of the dead letter as it was; text.
	 */
	public static final String EDITED_FROM = "kafka_queue-edited-from";

	/** What is changed: the value, and names of headers. */
	List<String> parts() {
		List<String> parts = new ArrayList<>();
		if (this.value != null) {
			parts.add("value");
		}
		this.headers.keySet().forEach((name) -> parts.add("header " + name));
		return parts;
	}

	ConsumerRecord<byte[], byte[]> apply(ConsumerRecord<byte[], byte[]> letter) {
		Headers changed = new RecordHeaders(letter.headers());
		this.headers.forEach((name, text) -> {
			changed.remove(name);
			if (text != null) {
				changed.add(name, text.getBytes(StandardCharsets.UTF_8));
			}
		});
		if (this.value != null) {
			// It is no stub any more.
			changed.remove(DeadLetterHeaders.DROPPED_BYTES);
		}
		changed.remove(EDITED_FROM);
		changed.add(EDITED_FROM,
				(letter.topic() + "-" + letter.partition() + "@" + letter.offset()).getBytes(StandardCharsets.UTF_8));
		byte[] newValue = (this.value != null) ? this.value : letter.value();
		return new ConsumerRecord<>(letter.topic(), letter.partition(), letter.offset(), letter.timestamp(),
				letter.timestampType(), letter.serializedKeySize(), (newValue != null) ? newValue.length : -1,
				letter.key(), newValue, changed, letter.leaderEpoch());
	}

}
