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
 * @param merges times that it was taken out of a dead-letter topic to be handled again
 */
public record History(int retries, int attempts, int timeouts, int merges) {

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

	/**
	 * Header with the times that a record was taken out of a dead-letter topic to be
	 * handled again; decimal text.
	 */
	public static final String MERGES = "kafka_queue-merges";

	static final History NONE = new History(0, 0, 0, 0);

	/**
	 * A record of a source is at its beginning, whatever its headers say, and so is one
	 * that is taken out of a dead-letter topic.
	 */
	static History of(Stage stage, ConsumerRecord<?, ?> record) {
		return switch (stage.kind()) {
			case SOURCE -> NONE;
			case RETRY, PARK -> new History(number(record, RETRIES), number(record, ATTEMPTS), number(record, TIMEOUTS),
					number(record, MERGES));
			case DEAD_LETTER -> new History(0, 0, 0, number(record, MERGES) + 1);
		};
	}

	/** Looked up when asked: for most records nobody asks. */
	int mergesOf(ConsumerRecord<?, ?> record) {
		return (this == NONE) ? number(record, MERGES) : this.merges;
	}

	/**
	 * Reads a count from a header.
	 * @param record the record
	 * @param name name of the header
	 * @return the count; zero if somebody else has written the record, or has written
	 * over the header
	 */
	public static int number(ConsumerRecord<?, ?> record, String name) {
		Header header = record.headers().lastHeader(name);
		if (header == null || header.value() == null) {
			return 0;
		}
		String text = new String(header.value(), StandardCharsets.UTF_8);
		return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
	}

}
