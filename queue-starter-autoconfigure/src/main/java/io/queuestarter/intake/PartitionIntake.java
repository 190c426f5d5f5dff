package io.queuestarter.intake;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.ConsumerRecord;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.ledger.PartitionLedger;

/**
 * Polled records of one assigned partition that are not admitted yet. <em>Consumer thread
 * only.</em>
 */
final class PartitionIntake {

	private final Assignment assignment;

	private final IntakeCounts counts;

	/** Highest leader epoch that what was restored may speak of, or -1 if not known. */
	private final int restoredEpoch;

	private final ArrayDeque<ConsumerRecord<byte[], byte[]>> pending = new ArrayDeque<>();

	/** Offset behind the last polled record and whatever the broker skipped. */
	private long reached = -1;

	private boolean paused;

	/** Offset of the record that rests at the front, or rested last. */
	private long resting = -1;

	/** When it is due. */
	private long dueNanos;

	PartitionIntake(Assignment assignment, IntakeCounts counts) {
		this.assignment = assignment;
		this.counts = counts;
		this.restoredEpoch = assignment.leaderEpoch();
	}

	Assignment assignment() {
		return this.assignment;
	}

	void add(List<ConsumerRecord<byte[], byte[]>> records) {
		this.pending.addAll(records);
	}

	/** Lowest offset that a poll may bring if the log has not gone back. */
	long next() {
		ConsumerRecord<byte[], byte[]> last = this.pending.peekLast();
		return (last != null) ? last.offset() + 1 : this.assignment.ledger().next();
	}

	/** Offset that the next poll begins with if the log has no more holes, or -1. */
	long expected() {
		return Math.max(next(), this.reached);
	}

	/**
	 * Lets everything go that is not settled.
	 * @param below an offset
	 * @return the records let go whose offset is below, lowest offset first
	 */
	List<ConsumerRecord<byte[], byte[]>> letGo(long below) {
		List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
		this.assignment.ledger().forEachOutstanding((delivery) -> {
			ConsumerRecord<byte[], byte[]> record = delivery.record();
			delivery.letGo();
			if (record != null && delivery.state() == DeliveryState.LET_GO) {
				records.add(record);
			}
		});
		records.addAll(this.pending);
		records.removeIf((record) -> record.offset() >= below);
		return records;
	}

	void reached(long position) {
		this.reached = position;
	}

	boolean hasPending() {
		return !this.pending.isEmpty();
	}

	/** Whether nothing will change until the next poll. */
	boolean isIdle() {
		return !this.paused && this.pending.isEmpty() && this.assignment.ledger().tracked() == 0;
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
	 * A record written under a later leader than any known when the settled set was
	 * committed is another record at the same offset: the log was cut off in between.
	 */
	private boolean isOfRestored(int epoch) {
		return this.restoredEpoch < 0 || epoch <= this.restoredEpoch;
	}

	/**
	 * A record of a retry topic rests from its timestamp on, but not longer than so from
	 * when it came to the front: a timestamp of the future must not stop the partition.
	 */
	private boolean isResting(ConsumerRecord<byte[], byte[]> record, long nowNanos, TimeSource time) {
		long delayMillis = this.assignment.stage().delay().toMillis();
		if (delayMillis == 0) {
			return false;
		}
		if (record.offset() != this.resting) {
			long rested = Math.max(0, time.now().toEpochMilli() - Math.max(0, record.timestamp()));
			this.resting = record.offset();
			this.dueNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(Math.max(0, delayMillis - rested));
		}
		return this.dueNanos - nowNanos > 0;
	}

	/** Time until the record at the front is due, or MAX_VALUE if it does not rest. */
	long nanosUntilDue(long nowNanos) {
		ConsumerRecord<byte[], byte[]> front = this.pending.peek();
		boolean rests = front != null && front.offset() == this.resting && this.dueNanos - nowNanos > 0;
		return rests ? this.dueNanos - nowNanos : Long.MAX_VALUE;
	}

	/**
	 * Admits pending records.
	 * @param most largest number to admit
	 * @param lanes tell where a record belongs
	 * @param time where the time is read
	 * @return the deliveries; records settled by an earlier owner, and those of lanes
	 * that are skipped, are not among them
	 */
	List<Delivery> admit(int most, IntakeLanes lanes, TimeSource time) {
		long nowNanos = time.nanoTime();
		PartitionLedger<Delivery> ledger = this.assignment.ledger();
		int redelivered = 0;
		int skipped = 0;
		int otherZone = 0;
		List<Delivery> admitted = new ArrayList<>(Math.min(most, this.pending.size()));
		while (admitted.size() < most && !this.pending.isEmpty() && !ledger.isFull()
				&& !this.assignment.isOverBytes()) {
			ConsumerRecord<byte[], byte[]> record = this.pending.element();
			int epoch = record.leaderEpoch().orElse(-1);
			this.assignment.polled(epoch);
			if (ledger.isRestored(record.offset()) && isOfRestored(epoch)) {
				ledger.appendSettled(record.offset());
			}
			else if (isResting(record, nowNanos, time)) {
				break;
			}
			else {
				RecordContext context = lanes.contextOf(record);
				if (lanes.skips(context)) {
					ledger.appendSettled(record.offset());
					skipped++;
				}
				else {
					redelivered += this.assignment.isBegunBefore(record.offset()) ? 1 : 0;
					otherZone += context.remote() ? 1 : 0;
					admitted.add(this.assignment.admit(record, context, nowNanos));
				}
			}
			this.pending.remove();
		}
		if (redelivered > 0) {
			this.counts.redelivered(redelivered);
		}
		if (skipped > 0) {
			this.counts.skipped(skipped);
		}
		if (otherZone > 0) {
			this.counts.otherZone(otherZone);
		}
		// Over restored records, so that the one behind them holds the head once it is
		// dispatched, and its settlement is told.
		ledger.advance();
		return admitted;
	}

}
