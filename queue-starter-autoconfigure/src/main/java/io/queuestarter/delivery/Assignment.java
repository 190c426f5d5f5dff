package io.queuestarter.delivery;

import java.util.concurrent.atomic.AtomicIntegerArray;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

import io.queuestarter.context.RecordContext;
import io.queuestarter.ledger.PartitionLedger;

/**
 * A partition while it is assigned to one consumer: its ledger, its waiting tasks, its
 * share of the memory. The next assignment of the same partition gets a new object, so
 * that what is late from this one changes nothing there. <em>Thread-safe</em>, except
 * where a method says otherwise.
 */
public final class Assignment {

	private final TopicPartition partition;

	private final Stage stage;

	private final PartitionLedger<Delivery> ledger;

	private final long begunBefore;

	private final LaneQueues queues;

	/** Consumer thread only. */
	private int leaderEpoch;

	private final ByteBudget common;

	private final ByteBudget own;

	private final Runnable headListener;

	/** By the index of a lane; those of lanes that are not served come last. */
	private final AtomicIntegerArray outstanding;

	/**
	 * Creates an assignment.
	 * @param partition the partition
	 * @param stage what its topic is for
	 * @param ledger its ledger
	 * @param begunBefore offset behind the highest record that a handler was called with
	 * before
	 * @param leaderEpoch highest leader epoch of records polled before, or -1 if not
	 * known
	 * @param queues its waiting tasks
	 * @param common bytes held by the whole listener
	 * @param own bytes held by this partition
	 * @param headListener told by the thread that settles the record that holds the
	 * watermark, while the window is full or the bytes are spent; must be quick
	 */
	public Assignment(TopicPartition partition, Stage stage, PartitionLedger<Delivery> ledger, long begunBefore,
			int leaderEpoch, LaneQueues queues, ByteBudget common, ByteBudget own, Runnable headListener) {
		this.partition = partition;
		this.stage = stage;
		this.ledger = ledger;
		this.begunBefore = begunBefore;
		this.leaderEpoch = leaderEpoch;
		this.queues = queues;
		this.common = common;
		this.own = own;
		this.headListener = headListener;
		this.outstanding = new AtomicIntegerArray(queues.lanes() + 1);
	}

	/**
	 * Enters a record into the ledger. Consumer thread only.
	 * @param record the record
	 * @param context where it belongs
	 * @param nowNanos the time, on the scale of {@link TimeSource#nanoTime()}
	 * @return its delivery, to be dispatched
	 */
	public Delivery admit(ConsumerRecord<byte[], byte[]> record, RecordContext context, long nowNanos) {
		int size = sizeOf(record);
		Delivery delivery = new Delivery(this, record, context, size, nowNanos);
		delivery.sequence = this.ledger.append(record.offset(), delivery);
		this.common.take(size);
		this.own.take(size);
		this.outstanding.incrementAndGet(counterOf(delivery));
		return delivery;
	}

	/**
	 * Notes the leader epoch of a polled record: which reign of a partition leader the
	 * record was written in (KIP-320). Consumer thread only.
	 * @param epoch the epoch
	 */
	public void polled(int epoch) {
		if (epoch > this.leaderEpoch) {
			this.leaderEpoch = epoch;
		}
	}

	/**
	 * Highest leader epoch of the records polled, in this assignment or before. Consumer
	 * thread only.
	 * @return the epoch, or -1 if not known
	 */
	public int leaderEpoch() {
		return this.leaderEpoch;
	}

	void settled(Delivery delivery) {
		this.ledger.settle(delivery.sequence);
		released(delivery);
		if (this.ledger.isHead(delivery.sequence) && (this.ledger.isFull() || isSpent())) {
			this.headListener.run();
		}
	}

	/**
	 * Takes a record that was let go for settled, for a ledger that nobody commits.
	 * @param delivery its delivery; does nothing unless it was let go
	 */
	public void forget(Delivery delivery) {
		if (delivery.state() == DeliveryState.LET_GO) {
			this.ledger.settle(delivery.sequence);
		}
	}

	void released(Delivery delivery) {
		this.outstanding.decrementAndGet(counterOf(delivery));
		this.own.release(delivery.size());
		this.common.release(delivery.size());
	}

	/**
	 * The partition.
	 * @return topic and number
	 */
	public TopicPartition partition() {
		return this.partition;
	}

	/**
	 * What the partition's topic is for.
	 * @return the stage
	 */
	public Stage stage() {
		return this.stage;
	}

	/**
	 * The partition's ledger.
	 * @return the ledger
	 */
	public PartitionLedger<Delivery> ledger() {
		return this.ledger;
	}

	/**
	 * The partition's tasks that wait for a slot.
	 * @return the queues
	 */
	public LaneQueues queues() {
		return this.queues;
	}

	/**
	 * Bytes held by this partition.
	 * @return the budget
	 */
	public ByteBudget bytes() {
		return this.own;
	}

	/**
	 * Whether the bytes held by this partition or by the whole listener reach their
	 * limit. A partition of which nothing is held is never over it, so that no partition
	 * waits for another, nor a record for being large.
	 * @return {@code true} if nothing more should be admitted
	 */
	public boolean isOverBytes() {
		return isSpent() && outstanding() > 0;
	}

	private boolean isSpent() {
		return this.own.isSpent() || this.common.isSpent();
	}

	/**
	 * Number of records admitted and neither settled nor let go. When a settled record no
	 * longer counts, the ledger knows of it.
	 * @return the number
	 */
	public int outstanding() {
		int sum = 0;
		for (int lane = 0; lane < this.outstanding.length(); lane++) {
			sum += this.outstanding.get(lane);
		}
		return sum;
	}

	/**
	 * The same of one lane.
	 * @param lane its index
	 * @return the number
	 */
	public int outstanding(int lane) {
		return this.outstanding.get(lane);
	}

	private int counterOf(Delivery delivery) {
		int lane = delivery.context().index();
		return (lane >= 0) ? lane : this.outstanding.length() - 1;
	}

	/**
	 * Whether a handler may have been called with a record before this assignment.
	 * @param offset offset of the record
	 * @return {@code true} if it lies below the end of what was begun
	 */
	public boolean isBegunBefore(long offset) {
		return offset < this.begunBefore;
	}

	/**
	 * How far handlers have come. Consumer thread only.
	 * @return offset behind the highest record that a handler was called with, in this
	 * assignment or before
	 */
	public long begun() {
		return Math.max(this.begunBefore, this.ledger.endOf(Delivery::isBegun));
	}

	private static int sizeOf(ConsumerRecord<byte[], byte[]> record) {
		int size = Math.max(record.serializedKeySize(), 0) + Math.max(record.serializedValueSize(), 0);
		// As an array, which costs nothing if there are none.
		for (Header header : record.headers().toArray()) {
			size += header.key().length();
			size += (header.value() != null) ? header.value().length : 0;
		}
		return size;
	}

}
