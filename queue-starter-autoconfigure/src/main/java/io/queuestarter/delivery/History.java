package io.queuestarter.delivery;

import java.nio.charset.StandardCharsets;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * What a record went through before it was written to a topic of the queue's own, as its
 * headers tell.
 *
 * @param retries times that it was written to a retry topic
 * @param attempts attempts made
 * @param timeouts attempts that timed out
 */
public record History(int retries, int attempts, int timeouts) {

	/**
	 * Header with the times that a record was written to a retry topic; decimal text.
	 */
	public static final String RETRIES = "kafka_queue-retries";

	/**
	 * Header with the number of attempts made; decimal text.
	 */
	public static final String ATTEMPTS = "kafka_queue-attempts";

	/**
	 * Header with the number of attempts that timed out; decimal text.
	 */
	public static final String TIMEOUTS = "kafka_queue-timeouts";

	static final History NONE = new History(0, 0, 0);

	/** A record of a source is at its beginning, whatever its headers say. */
	static History of(Stage stage, ConsumerRecord<?, ?> record) {
		return stage.isOwn() ? new History(number(record, RETRIES), number(record, ATTEMPTS), number(record, TIMEOUTS))
				: NONE;
	}

	/** Zero if somebody else has written the record, or has written over the header. */
	private static int number(ConsumerRecord<?, ?> record, String name) {
		Header header = record.headers().lastHeader(name);
		if (header == null || header.value() == null) {
			return 0;
		}
		String text = new String(header.value(), StandardCharsets.UTF_8);
		return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
	}

}
