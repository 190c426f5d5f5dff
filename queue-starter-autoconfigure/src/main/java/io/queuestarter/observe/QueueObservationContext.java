package io.queuestarter.observe;

import java.nio.charset.StandardCharsets;

import io.micrometer.observation.transport.ReceiverContext;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueContext;
import io.queuestarter.delivery.AttemptOutcome;

/**
 * What is known of an observed attempt. Its carrier is the record, so that a trace that
 * the record's sender began goes on.
 *
 * @since 0.1.0
 */
public final class QueueObservationContext extends ReceiverContext<ConsumerRecord<byte[], byte[]>> {

	private final String queue;

	private final String group;

	private final QueueContext attempt;

	private final ConsumerRecord<byte[], byte[]> record;

	/** Volatile; set when the observation ends. */
	private volatile @Nullable AttemptOutcome outcome;

	QueueObservationContext(String queue, String group, QueueContext attempt, ConsumerRecord<byte[], byte[]> record) {
		super(QueueObservationContext::header);
		setCarrier(record);
		setRemoteServiceName("Apache Kafka");
		this.queue = queue;
		this.group = group;
		this.attempt = attempt;
		this.record = record;
	}

	private static @Nullable String header(ConsumerRecord<byte[], byte[]> record, String key) {
		Header header = record.headers().lastHeader(key);
		return (header != null && header.value() != null) ? new String(header.value(), StandardCharsets.UTF_8) : null;
	}

	/**
	 * Id of the queue.
	 * @return the id
	 */
	public String queue() {
		return this.queue;
	}

	/**
	 * Consumer group of the queue.
	 * @return the group id
	 */
	public String group() {
		return this.group;
	}

	/**
	 * The attempt: its number, lane and zone.
	 * @return what its handler sees of it
	 */
	public QueueContext attempt() {
		return this.attempt;
	}

	/**
	 * The record, as polled.
	 * @return the record
	 */
	public ConsumerRecord<byte[], byte[]> record() {
		return this.record;
	}

	/**
	 * What became of the attempt.
	 * @return {@code acked}, {@code retried}, {@code nacked}, {@code timed_out} or
	 * {@code cancelled}; {@code none} until it is known
	 */
	public String outcome() {
		AttemptOutcome known = this.outcome;
		return (known != null) ? known.tag() : "none";
	}

	void concluded(AttemptOutcome attemptOutcome) {
		this.outcome = attemptOutcome;
	}

}
