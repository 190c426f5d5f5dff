package io.queuestarter.deadletter;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.log.LogContext;

/**
 * A record on its way to another topic. <em>Thread-safe.</em>
 *
 * @param delivery the record
 * @param failure why it goes
 * @param destination where it goes
 * @param log what log lines about it carry
 * @param ended whether it arrived or nobody needs it any more; the same for all ways of
 * the record
 */
/*
 * A letter that waits is DEAD_LETTER_HELD, so that a drain lets its record go at once; it
 * is DEAD_LETTERING, and a drain waits for it, from its write to the broker's answer. The
 * two may race with an answer that comes late: a producer may throw although it has taken
 * the record. So whoever acknowledges takes the letter out of either state.
 */
record Letter(Delivery delivery, Failure failure, Destination destination, LogContext log, AtomicBoolean ended) {

	/** A letter of the thread's log context. */
	static Letter of(Delivery delivery, Failure failure, Destination destination) {
		return new Letter(delivery, failure, destination, LogContext.current(), new AtomicBoolean());
	}

	/** The same record on another way, of which only one arrives. */
	Letter to(Destination other, DeadLetterReason reason) {
		return new Letter(this.delivery, new Failure(reason, this.failure.attempts(), this.failure.error()), other,
				this.log, this.ended);
	}

	/** Whether it goes to where people decide about it. */
	boolean isDead() {
		return this.destination.kind() == Destination.Kind.DEAD_LETTER;
	}

	/** It waits; a drain may let it go. */
	void hold() {
		this.delivery.move(DeliveryState.DEAD_LETTERING, DeliveryState.DEAD_LETTER_HELD);
	}

	/**
	 * It waits no longer, but is written now.
	 * @return the record, or null if nobody needs the letter any more
	 */
	@Nullable ConsumerRecord<byte[], byte[]> take() {
		this.delivery.move(DeliveryState.DEAD_LETTER_HELD, DeliveryState.DEAD_LETTERING);
		ConsumerRecord<byte[], byte[]> record = this.delivery.record();
		return (this.delivery.isEnded() || this.ended.get()) ? null : record;
	}

	/** Nobody needs it any more. Answers whether somebody did until now. */
	boolean end() {
		return this.ended.compareAndSet(false, true);
	}

	/**
	 * It has arrived: its record is settled, also if the letter is held meanwhile, since
	 * an earlier write was said to fail.
	 */
	void settle() {
		while (!this.delivery.settle(DeliveryState.DEAD_LETTERING) && !this.delivery.isEnded()) {
			this.delivery.move(DeliveryState.DEAD_LETTER_HELD, DeliveryState.DEAD_LETTERING);
		}
	}

	/** What is written for the record that was taken. */
	ProducerRecord<byte[], byte[]> write(ConsumerRecord<byte[], byte[]> record, Form form,
			DeadLetterSettings settings) {
		if (this.destination.kind() == Destination.Kind.FORWARD) {
			return new ProducerRecord<>(this.destination.topic(), null,
					(record.timestamp() >= 0) ? record.timestamp() : null, record.key(), record.value(),
					record.headers());
		}
		Passage passage = new Passage(record, this.delivery.assignment().stage().isOwn(), !isDead(), this.failure,
				this.delivery.timeouts(), this.destination.retries(), this.delivery.history().merges());
		Headers headers = (form == Form.FULL) ? DeadLetterHeaders.of(passage, settings.listener(), settings.group())
				: DeadLetterHeaders.brief(passage, settings.listener(), settings.group());
		byte[] value = record.value();
		if (form == Form.STUB && value != null) {
			headers.add(DeadLetterHeaders.DROPPED_BYTES,
					Integer.toString(value.length).getBytes(StandardCharsets.UTF_8));
			value = null;
		}
		return new ProducerRecord<>(this.destination.topic(), null, null, record.key(), value, headers);
	}

	/** How much of a record and its failure a letter tells. */
	enum Form {

		FULL(""), BRIEF(" without message and stack trace"), STUB(" without its value");

		/** What operators read of it. */
		final String text;

		Form(String text) {
			this.text = text;
		}

	}

}
