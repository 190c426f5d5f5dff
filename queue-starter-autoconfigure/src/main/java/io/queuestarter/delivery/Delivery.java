package io.queuestarter.delivery;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

import io.queuestarter.context.RecordContext;
import io.queuestarter.dispatch.TaskQueue;
import io.queuestarter.outage.Circuit;

/**
 * One record between its admission and its settlement. <em>Thread-safe.</em>
 * <p>
 * Every change of state is a compare-and-set, so of an answer, a timeout and the loss of
 * the partition exactly one takes effect. A settled delivery lets go of its record at
 * once.
 */
public final class Delivery {

	private static final AtomicReferenceFieldUpdater<Delivery, DeliveryState> STATE = AtomicReferenceFieldUpdater
		.newUpdater(Delivery.class, DeliveryState.class, "state");

	private final Assignment assignment;

	private final RecordContext context;

	private final long offset;

	private final int size;

	private final long admittedNanos;

	private final History history;

	/** Set once by the consumer thread, before the delivery is handed over. */
	long sequence;

	/** Guarded by the lock of the dispatcher. */
	private @Nullable Object orderKey;

	/** Any thread, by compare-and-set. */
	private volatile DeliveryState state = DeliveryState.QUEUED;

	/** Volatile; null once settled or let go. */
	private volatile @Nullable ConsumerRecord<byte[], byte[]> record;

	/** Volatile; the open attempt, or the last one; null once settled or let go. */
	private volatile @Nullable Attempt attempt;

	/** Volatile; set once, by whoever lets the delivery go. */
	private volatile boolean begun;

	/** Volatile; simple class name of the last failure, for operators. */
	private volatile @Nullable String lastError;

	/*
	 * Written by whoever concludes an attempt, before the delivery moves on, and so read
	 * by whoever opens the next.
	 */
	private int failures;

	private int timeouts;

	private int countedFailures;

	private int failedTrials;

	/** Openings of the breaker when the failures were counted. */
	private int openings;

	private long firstFailureNanos;

	private long lastFailureNanos;

	/** Whether the last attempt says nothing of the record. */
	private boolean uncounted;

	/** Volatile; whether the record failed again although others succeeded. */
	private volatile boolean atFault;

	/** Volatile; set before each back-off. */
	private volatile @Nullable Runnable letGoAction;

	/** Volatile; end of the last back-off. */
	private volatile long backoffEndNanos;

	Delivery(Assignment assignment, ConsumerRecord<byte[], byte[]> record, RecordContext context, int size,
			long admittedNanos) {
		this.assignment = assignment;
		this.context = context;
		this.record = record;
		this.offset = record.offset();
		this.size = size;
		this.admittedNanos = admittedNanos;
		this.history = History.of(assignment.stage(), record);
		this.timeouts = this.history.timeouts();
	}

	/**
	 * Opens the next attempt.
	 * @param answers who receives the answer
	 * @param slot slot that the attempt occupies
	 * @param time where the time is read
	 * @param timeout longest time the attempt may take
	 * @param circuit what the attempt depends on
	 * @return the attempt, or {@code null} if the delivery was let go meanwhile
	 */
	public @Nullable Attempt start(Answers answers, int slot, TimeSource time, AttemptTimeout timeout,
			Circuit circuit) {
		Attempt before = this.attempt;
		int number = ((before != null) ? before.attempt() : this.history.attempts()) + (this.uncounted ? 0 : 1);
		ConsumerRecord<byte[], byte[]> current = this.record;
		if (current == null) {
			return null;
		}
		if (before == null) {
			this.openings = circuit.openings();
		}
		Attempt next = new Attempt(this, current, number, answers, slot, time, timeout.nanosAfter(this.timeouts),
				circuit, failedBefore(time));
		this.attempt = next;
		if (!STATE.compareAndSet(this, DeliveryState.QUEUED, DeliveryState.IN_FLIGHT)) {
			this.attempt = null;
			return null;
		}
		this.uncounted = false;
		return next;
	}

	/** A record that comes from a retry topic failed before it was written there. */
	private OptionalLong failedBefore(TimeSource time) {
		if (this.failures > 0) {
			return OptionalLong.of(this.lastFailureNanos);
		}
		return (this.history.attempts() > 0)
				? OptionalLong.of(time.nanoTime() - this.assignment.stage().delay().toNanos()) : OptionalLong.empty();
	}

	/**
	 * Moves on to a state in which the record is still held.
	 * @param from the state it must be in
	 * @param to the next state
	 * @return {@code false} if it was in another state, for instance let go
	 */
	public boolean move(DeliveryState from, DeliveryState to) {
		return STATE.compareAndSet(this, from, to);
	}

	/**
	 * Settles the record: the watermark may pass it.
	 * @param from the state it must be in; {@link DeliveryState#DEAD_LETTERING} if it was
	 * written to another topic
	 * @return {@code false} if it was in another state; nothing has changed then
	 */
	public boolean settle(DeliveryState from) {
		DeliveryState to = (from == DeliveryState.DEAD_LETTERING) ? DeliveryState.REDIRECTED : DeliveryState.SETTLED;
		if (!STATE.compareAndSet(this, from, to)) {
			return false;
		}
		this.record = null;
		this.attempt = null;
		this.assignment.settled(this);
		tellOrder(from);
		return true;
	}

	/**
	 * Lets the record go unsettled, unless an attempt or a dead-letter write is under
	 * way.
	 * @return {@code true} if nothing is under way any more
	 */
	public boolean letGoIfIdle() {
		return letGo(DeliveryState.QUEUED) || letGo(DeliveryState.BACKOFF) || letGo(DeliveryState.DEAD_LETTER_HELD)
				|| isEnded();
	}

	/**
	 * Lets the record go unsettled, whatever is under way, and cancels the open attempt.
	 * @return {@code true} if an attempt or a dead-letter write was cut off
	 */
	public boolean letGo() {
		while (!letGoIfIdle()) {
			if (letGo(DeliveryState.IN_FLIGHT) || letGo(DeliveryState.DEAD_LETTERING)) {
				return true;
			}
		}
		return false;
	}

	private boolean letGo(DeliveryState from) {
		if (!STATE.compareAndSet(this, from, DeliveryState.LET_GO)) {
			return false;
		}
		Attempt current = this.attempt;
		this.begun = current != null;
		this.record = null;
		this.attempt = null;
		this.assignment.released(this);
		if (from == DeliveryState.IN_FLIGHT && current != null) {
			current.abandon();
		}
		runLetGoAction();
		tellOrder(from);
		return true;
	}

	/** A record in flight occupies a slot, which is free later than now. */
	private void tellOrder(DeliveryState from) {
		TaskQueue<Delivery> queue = queue();
		if (from != DeliveryState.IN_FLIGHT && queue != null) {
			queue.ended(this);
		}
	}

	/** What it has in common with records that it must not run beside, if anything. */
	@Nullable Object orderKey() {
		ConsumerRecord<byte[], byte[]> current = this.record;
		if (this.orderKey == null && current != null) {
			this.orderKey = DeliveryOrder.keyOf(current);
		}
		return this.orderKey;
	}

	/**
	 * What to do when the record is let go: give up what was prepared for its next
	 * attempt. Replaces the action named before.
	 * @param action the action; run at once if the record is let go already
	 */
	public void onLetGo(Runnable action) {
		this.letGoAction = action;
		if (this.state == DeliveryState.LET_GO) {
			runLetGoAction();
		}
	}

	/**
	 * Gives up what was prepared for the next attempt of a record that will have none.
	 */
	public void cancelBackoff() {
		runLetGoAction();
	}

	private void runLetGoAction() {
		Runnable action = this.letGoAction;
		if (action != null) {
			action.run();
		}
	}

	/**
	 * Whether nothing happens to the delivery any more.
	 * @return {@code true} if it is settled or let go
	 */
	public boolean isEnded() {
		DeliveryState current = this.state;
		return current == DeliveryState.SETTLED || current == DeliveryState.REDIRECTED
				|| current == DeliveryState.LET_GO;
	}

	/** Whether a handler has been called with the record; may be late by a moment. */
	boolean isBegun() {
		return this.begun || this.attempt != null;
	}

	/**
	 * Where the record stands.
	 * @return the state
	 */
	public DeliveryState state() {
		return this.state;
	}

	/**
	 * The record as polled.
	 * @return the record, or {@code null} once it is settled or let go
	 */
	public @Nullable ConsumerRecord<byte[], byte[]> record() {
		return this.record;
	}

	/**
	 * The open attempt, or the last one.
	 * @return the attempt, or {@code null} before the first, and once the record is
	 * settled or let go
	 */
	public @Nullable Attempt attempt() {
		return this.attempt;
	}

	/**
	 * The partition assignment that the record belongs to.
	 * @return the assignment
	 */
	public Assignment assignment() {
		return this.assignment;
	}

	/**
	 * Where the record waits for a slot.
	 * @return the queue, or {@code null} if its lane is not served here
	 */
	public @Nullable TaskQueue<Delivery> queue() {
		return this.assignment.queues().of(this.context);
	}

	/**
	 * Where the record belongs.
	 * @return lane and zone
	 */
	public RecordContext context() {
		return this.context;
	}

	/**
	 * What the record went through before it was read from its topic.
	 * @return its history
	 */
	public History history() {
		return this.history;
	}

	/**
	 * Number of an attempt among those made here.
	 * @param attempt an attempt for this record
	 * @return the number, from 1
	 */
	public int attemptHere(Attempt attempt) {
		return attempt.attempt() - this.history.attempts();
	}

	/**
	 * Attempts that timed out and count, here and before.
	 * @return the number
	 */
	public int timeouts() {
		return this.timeouts;
	}

	/**
	 * Offset of the record.
	 * @return the offset
	 */
	public long offset() {
		return this.offset;
	}

	/**
	 * Serialized size of the record.
	 * @return the number of bytes
	 */
	public int size() {
		return this.size;
	}

	/**
	 * When the record was admitted, on the scale of {@link TimeSource#nanoTime()}.
	 * @return the nanoseconds
	 */
	public long admittedNanos() {
		return this.admittedNanos;
	}

	/**
	 * What the last attempt failed with.
	 * @return a simple class name, or {@code null} if no attempt failed
	 */
	public @Nullable String lastError() {
		return this.lastError;
	}

	/**
	 * Notes that an attempt failed. To be called by whoever concludes the attempt.
	 * @param error the failure
	 * @param nowNanos the time
	 * @param atFault whether the record is at fault rather than what it depends on
	 */
	public void failedWith(Throwable error, long nowNanos, boolean atFault) {
		this.lastError = error.getClass().getSimpleName();
		this.atFault = atFault;
		if (this.failures++ == 0) {
			this.firstFailureNanos = nowNanos;
		}
		this.lastFailureNanos = nowNanos;
	}

	/**
	 * Counts a failure, unless it may be due to an outage. What was counted before an
	 * outage is forgotten: its beginning was taken for the record's fault. To be called
	 * by whoever concludes the attempt.
	 * @param openings times that the breaker of what the record depends on has opened
	 * @param inDoubt whether the attempt began or ended while it was not closed
	 * @param timedOut whether the attempt failed by its deadline
	 * @param maxFailures failures after which the record has used up its attempts
	 * @param maxTimeouts the same for timeouts
	 * @return whether it has used them up
	 */
	public boolean countFailure(int openings, boolean inDoubt, boolean timedOut, int maxFailures, int maxTimeouts) {
		if (openings != this.openings) {
			this.openings = openings;
			this.countedFailures = 0;
			this.timeouts = 0;
			this.failedTrials = 0;
		}
		if (inDoubt) {
			this.failedTrials++;
		}
		else {
			this.failedTrials = 0;
			this.countedFailures++;
			this.timeouts += timedOut ? 1 : 0;
		}
		return this.countedFailures >= maxFailures || this.timeouts >= maxTimeouts;
	}

	/**
	 * Notes that the attempt says nothing of the record: the next has its number. To be
	 * called by whoever concludes the attempt.
	 */
	public void countNothing() {
		this.uncounted = true;
	}

	/**
	 * Failures in doubt since one that counts, or since the breaker opened last.
	 * @return the number
	 */
	public int failedTrials() {
		return this.failedTrials;
	}

	/**
	 * Failures that count.
	 * @return the number
	 */
	public int countedFailures() {
		return this.countedFailures;
	}

	/**
	 * Whether an attempt for the record failed here.
	 * @return {@code false} before the first failure
	 */
	public boolean hasFailed() {
		return this.failures > 0;
	}

	/**
	 * When the record failed first, on the scale of {@link TimeSource#nanoTime()}.
	 * @return the nanoseconds, or 0 if no attempt failed
	 */
	public long firstFailureNanos() {
		return this.firstFailureNanos;
	}

	/**
	 * Notes until when the record waits for its next attempt, before it begins to wait.
	 * @param nanos the end, on the scale of {@link TimeSource#nanoTime()}
	 */
	public void waitsUntil(long nanos) {
		this.backoffEndNanos = nanos;
	}

	/**
	 * Until when the record waits for its next attempt, on the scale of
	 * {@link TimeSource#nanoTime()}.
	 * @return the nanoseconds; of use in state {@link DeliveryState#BACKOFF} only
	 */
	public long waitsUntil() {
		return this.backoffEndNanos;
	}

	/**
	 * Whether the record failed again although others succeeded since it failed first,
	 * timed out although others that began later succeeded, or has failed for longer than
	 * the patience with outages.
	 * @return {@code false} also if it wants to be tried again later
	 */
	public boolean isAtFault() {
		return this.atFault;
	}

	@Override
	public String toString() {
		return this.assignment.partition() + "@" + this.offset;
	}

}
