package io.queuestarter.intake;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import org.apache.kafka.clients.consumer.ConsumerRecord;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.ledger.PartitionLedger;

/**
 * Polled records of one assigned partition that are not admitted yet. <em>Consumer thread
 * only.</em>
 */
final class PartitionIntake {

	private final Assignment assignment;

	private final ArrayDeque<ConsumerRecord<byte[], byte[]>> pending = new ArrayDeque<>();

	/** Offset behind the last polled record and whatever the broker skipped. */
	private long reached = -1;

	private boolean paused;

	PartitionIntake(Assignment assignment) {
		this.assignment = assignment;
	}

	Assignment assignment() {
		return this.assignment;
	}

	void add(List<ConsumerRecord<byte[], byte[]>> records) {
		this.pending.addAll(records);
	}

	void reached(long position) {
		this.reached = position;
	}

	boolean hasPending() {
		return !this.pending.isEmpty();
	}

	boolean isPaused() {
		return this.paused;
	}

	void setPaused(boolean paused) {
		this.paused = paused;
	}

	/**
	 * Moves the watermark over what is settled and over offsets that hold no record.
	 */
	void advance() {
		PartitionLedger<Delivery> ledger = this.assignment.ledger();
		ledger.advance();
		if (this.pending.isEmpty()) {
			ledger.follow(this.reached);
		}
	}

	/**
	 * Admits pending records.
	 * @param most largest number to admit
	 * @param nowNanos the time
	 * @return deliveries to dispatch; records settled by an earlier owner are not among
	 * them
	 */
	List<Delivery> admit(int most, long nowNanos) {
		PartitionLedger<Delivery> ledger = this.assignment.ledger();
		List<Delivery> admitted = new ArrayList<>(Math.min(most, this.pending.size()));
		while (admitted.size() < most && !this.pending.isEmpty() && !ledger.isFull()
				&& !this.assignment.isOverBytes()) {
			ConsumerRecord<byte[], byte[]> record = this.pending.remove();
			if (ledger.isRestored(record.offset())) {
				ledger.appendSettled(record.offset());
			}
			else {
				admitted.add(this.assignment.admit(record, nowNanos));
			}
		}
		return admitted;
	}

}
