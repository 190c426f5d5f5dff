package io.queuestarter.delivery;

import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.support.Acknowledgment;

import io.queuestarter.QueueContext;
import io.queuestarter.outage.Circuit;

/**
 * One attempt to handle a record, and what its handler sees of it. <em>Thread-safe.</em>
 */
/*
 * Who claims the attempt first decides what becomes of the record; all others have lost.
 * An attempt whose handler has returned without an answer is detached: it keeps its slot
 * until it is claimed, and whoever claims it gives the slot back.
 *
 * The interrupt of a cancelled attempt must not hit the next task of the same thread. So
 * the thread stands in a field that both sides take out with a compare-and-set: whoever
 * interrupts puts a mark there first, and a worker that finds the mark waits the few
 * instructions until the interrupt is delivered before it clears the flag and goes on.
 */
public final class Attempt implements HandlerCall, QueueContext, Acknowledgment {

	private static final Logger LOGGER = LoggerFactory.getLogger(Attempt.class);

	private static final Object INTERRUPTING = new Object();

	private static final AtomicReferenceFieldUpdater<Attempt, Progress> PROGRESS = AtomicReferenceFieldUpdater
		.newUpdater(Attempt.class, Progress.class, "progress");

	private static final AtomicReferenceFieldUpdater<Attempt, @Nullable Object> RUNNER = AtomicReferenceFieldUpdater
		.newUpdater(Attempt.class, Object.class, "runner");

	private static final AtomicReferenceFieldUpdater<Attempt, Occupancy> OCCUPANCY = AtomicReferenceFieldUpdater
		.newUpdater(Attempt.class, Occupancy.class, "occupancy");

	private static final AtomicReferenceFieldUpdater<Attempt, @Nullable Runnable> CANCELLATION = AtomicReferenceFieldUpdater
		.newUpdater(Attempt.class, Runnable.class, "cancellation");

	private final Delivery delivery;

	private final ConsumerRecord<byte[], byte[]> record;

	private final int number;

	private final Answers answers;

	private final int slot;

	private final TimeSource time;

	private final long startedNanos;

	private final long failedBeforeNanos;

	private final long deadlineNanos;

	private final Circuit circuit;

	private final boolean trial;

	private final boolean permitted;

	private final int openings;

	/** Any thread, by compare-and-set. */
	private volatile Progress progress = Progress.OPEN;

	/** Set by the worker, taken out by worker or canceller, by compare-and-set. */
	private volatile @Nullable Object runner;

	private volatile boolean cancelled;

	/** By compare-and-set: the worker's end, or that its slot was given to others. */
	private volatile Occupancy occupancy = Occupancy.OCCUPIED;

	/** Set by the worker. */
	private volatile boolean left;

	@SuppressWarnings("unused") // Read by its updater
	private volatile @Nullable Runnable cancellation;

	/** Worker thread only. */
	private boolean awaited;

	/** Volatile; set before any other thread can tell of a failure. */
	private volatile boolean called;

	/** Volatile; set by the worker before the handler runs. */
	private volatile boolean shared;

	/** Volatile; set by the worker before the handler is called. */
	private volatile AttemptScope scope = AttemptScope.NONE;

	/** Volatile; set by whoever decided, once. */
	private volatile @Nullable AttemptOutcome outcome;

	Attempt(Delivery delivery, ConsumerRecord<byte[], byte[]> record, int number, Answers answers, int slot,
			TimeSource time, long timeoutNanos, Circuit circuit, OptionalLong failedBefore) {
		this.delivery = delivery;
		this.record = record;
		this.number = number;
		this.answers = answers;
		this.slot = slot;
		this.time = time;
		this.startedNanos = time.nanoTime();
		this.failedBeforeNanos = failedBefore.orElse(this.startedNanos);
		this.deadlineNanos = this.startedNanos + timeoutNanos;
		this.circuit = circuit;
		this.openings = circuit.openings();
		this.permitted = circuit.isFindingOut();
		this.trial = this.permitted || circuit.isDoubtful();
	}

	/**
	 * Claims the right to decide, for an answer of the handler.
	 * @return how the attempt stood; somebody else was first if it
	 * {@linkplain Progress#isDecided() was decided}
	 */
	public Progress claim() {
		return decide(Progress.ANSWERED);
	}

	/**
	 * Claims the right to decide against the handler: what it answers later is late.
	 * @return how the attempt stood; somebody else was first if it
	 * {@linkplain Progress#isDecided() was decided}
	 */
	public Progress cutOff() {
		return decide(Progress.CUT_OFF);
	}

	private Progress decide(Progress decision) {
		Progress before = this.progress;
		while (!before.isDecided() && !PROGRESS.compareAndSet(this, before, decision)) {
			before = this.progress;
		}
		return before;
	}

	/**
	 * Whether it is known what becomes of the record.
	 * @return {@code false} if an answer is awaited
	 */
	public boolean isDecided() {
		return this.progress.isDecided();
	}

	/**
	 * Whether somebody else than the handler has decided.
	 * @return {@code true} after the first call of {@link #cutOff()}, if it was first
	 */
	public boolean isCutOff() {
		return this.progress == Progress.CUT_OFF;
	}

	/**
	 * Leaves the attempt open without a thread.
	 * @return {@code false} if it is answered already
	 */
	public boolean detach() {
		return PROGRESS.compareAndSet(this, Progress.OPEN, Progress.DETACHED);
	}

	@Override
	public void awaitAnswer() {
		this.awaited = true;
	}

	/**
	 * Whether the answer comes later than the handler's return. Worker thread only.
	 * @return {@code false} if the return is the answer
	 */
	public boolean isAwaited() {
		return this.awaited;
	}

	/**
	 * Says what goes along with the attempt. Worker thread only, once.
	 * @param attemptScope the scope; told at once if the attempt is concluded already
	 */
	public void carry(AttemptScope attemptScope) {
		this.scope = attemptScope;
		AttemptOutcome concluded = this.outcome;
		if (concluded != null) {
			attemptScope.concluded(concluded, null);
		}
	}

	@Override
	public void run(Runnable task) {
		this.scope.run(task);
	}

	/**
	 * Notes what became of the attempt. Called by whoever decided; what is noted first
	 * counts.
	 * @param attemptOutcome what became of it
	 * @param error what it failed with, or {@code null}
	 */
	public void concluded(AttemptOutcome attemptOutcome, @Nullable Throwable error) {
		if (this.outcome == null) {
			this.outcome = attemptOutcome;
			this.scope.concluded(attemptOutcome, error);
		}
	}

	@Override
	public void called() {
		this.called = true;
	}

	/**
	 * Whether the handler was called.
	 * @return {@code false} if a failure of this attempt is one of its arguments
	 */
	public boolean isCalled() {
		return this.called;
	}

	/**
	 * The calling thread begins to run the handler. It is interrupted at once if the
	 * attempt is cancelled already.
	 */
	public void enter() {
		Thread worker = Thread.currentThread();
		this.runner = worker;
		this.answers.entered(this);
		if (this.cancelled && RUNNER.compareAndSet(this, worker, null)) {
			worker.interrupt();
		}
	}

	/**
	 * The calling thread has ended running the handler; its interrupt flag is clear
	 * afterwards.
	 */
	public void leave() {
		if (!RUNNER.compareAndSet(this, Thread.currentThread(), null)) {
			while (this.runner == INTERRUPTING) {
				Thread.onSpinWait();
			}
		}
		Thread.interrupted();
		this.left = true;
		this.answers.left(this);
	}

	/**
	 * The calling thread begins to run the handler for the records of a batch. It is not
	 * interrupted for this one alone.
	 * @param cancellation told when the attempt is cancelled
	 * @param others whether there are other records
	 */
	public void enterBatch(Runnable cancellation, boolean others) {
		this.shared = others;
		onCancel(cancellation);
		this.answers.entered(this);
	}

	/**
	 * The calling thread has ended running the handler for the records of a batch.
	 */
	public void leaveBatch() {
		this.left = true;
		this.answers.left(this);
	}

	/**
	 * Whether the handler runs for other records, too, so that its failure, or that it
	 * hangs, says nothing of this one.
	 * @return {@code false} if it runs for this record alone
	 */
	public boolean isShared() {
		return this.shared;
	}

	/**
	 * Gives the slot back with the end of the worker's run. Worker thread only.
	 * @return {@code false} if the slot was given to others meanwhile
	 */
	public boolean end() {
		return OCCUPANCY.compareAndSet(this, Occupancy.OCCUPIED, Occupancy.ENDED);
	}

	/**
	 * Takes the slot from a handler that does not end.
	 * @return {@code true} if the slot is the caller's to release
	 */
	public boolean leak() {
		return OCCUPANCY.compareAndSet(this, Occupancy.OCCUPIED, Occupancy.LEAKED);
	}

	/**
	 * Whether the handler has ended.
	 * @return {@code true} if no thread runs it any more
	 */
	public boolean hasLeft() {
		return this.left;
	}

	@Override
	public void onCancel(Runnable action) {
		this.cancellation = action;
		if (this.cancelled) {
			runCancellation();
		}
	}

	private void runCancellation() {
		Runnable action = CANCELLATION.getAndSet(this, null);
		if (action == null) {
			return;
		}
		try {
			action.run();
		}
		catch (RuntimeException ex) {
			// Called by the timer and the consumer thread, which must go on.
			LOGGER.warn("The asynchronous result of {} could not be cancelled", this, ex);
		}
	}

	/**
	 * Tells the handler that nobody waits for it any more, by flag and interrupt.
	 */
	public void cancel() {
		this.cancelled = true;
		Object thread = this.runner;
		if (thread instanceof Thread worker && RUNNER.compareAndSet(this, worker, INTERRUPTING)) {
			worker.interrupt();
			this.runner = null;
		}
		runCancellation();
	}

	/** Cancels the attempt of a delivery that was let go. */
	void abandon() {
		this.answers.abandoned(this);
		cancel();
	}

	/**
	 * Whether the deadline has passed.
	 * @param nowNanos the time
	 * @return {@code true} if the attempt should time out
	 */
	public boolean isOverdue(long nowNanos) {
		return isPastDeadline(nowNanos) && !this.progress.isDecided();
	}

	/**
	 * Whether the handler runs on after the deadline although the attempt was decided,
	 * and nobody has told it to end.
	 * @param nowNanos the time
	 * @return {@code true} if it should be cancelled
	 */
	public boolean isOverstaying(long nowNanos) {
		return isPastDeadline(nowNanos) && this.progress.isDecided() && !this.cancelled && !this.left;
	}

	private boolean isPastDeadline(long nowNanos) {
		return nowNanos - this.deadlineNanos >= 0;
	}

	/**
	 * When the attempt began, on the scale of {@link TimeSource#nanoTime()}.
	 * @return the nanoseconds
	 */
	public long startedNanos() {
		return this.startedNanos;
	}

	/**
	 * Whether half of the attempt's time has passed.
	 * @param nowNanos the time
	 * @return {@code true} if it is slower than it should be
	 */
	public boolean isHalfOver(long nowNanos) {
		return nowNanos - this.startedNanos >= (this.deadlineNanos - this.startedNanos) / 2;
	}

	/**
	 * When the record failed before, on the scale of {@link TimeSource#nanoTime()}.
	 * @return the nanoseconds; those of {@link #startedNanos()} if it did not
	 */
	public long failedBeforeNanos() {
		return this.failedBeforeNanos;
	}

	/**
	 * Ends an attempt that says nothing of what it depends on: gives its permit back.
	 * Only attempts that find out take one, of the period in which they begin: the permit
	 * of an earlier time would be one attempt more.
	 */
	public void release() {
		if (this.permitted && this.openings == this.circuit.openings()) {
			this.circuit.released();
		}
	}

	/**
	 * What the attempt depends on. Its outcome is told there, or the attempt is
	 * {@linkplain #release() released}, once.
	 * @return the circuit
	 */
	public Circuit circuit() {
		return this.circuit;
	}

	/**
	 * Whether the attempt is one of those that find out whether what it depends on
	 * answers again.
	 * @return {@code true} if its failure says nothing of the record
	 */
	public boolean isTrial() {
		return this.trial;
	}

	/**
	 * Times that the breaker had opened when the attempt began.
	 * @return the number
	 */
	public int openings() {
		return this.openings;
	}

	/**
	 * The delivery that this attempt is for.
	 * @return the delivery
	 */
	public Delivery delivery() {
		return this.delivery;
	}

	/**
	 * The record as polled.
	 * @return the record
	 */
	public ConsumerRecord<byte[], byte[]> record() {
		return this.record;
	}

	/**
	 * The slot that the attempt occupies.
	 * @return number of the slot
	 */
	public int slot() {
		return this.slot;
	}

	/**
	 * Who receives the answer.
	 * @return the receiver
	 */
	public Answers answers() {
		return this.answers;
	}

	@Override
	public int attempt() {
		return this.number;
	}

	@Override
	public String lane() {
		return this.delivery.context().lane();
	}

	@Override
	public @Nullable String zone() {
		return this.delivery.context().zone();
	}

	@Override
	public void copyTo(Headers headers) {
		this.delivery.context().copy(this.record.headers(), headers);
	}

	@Override
	public int mergeCount() {
		return this.delivery.history().mergesOf(this.record);
	}

	@Override
	public Instant deadline() {
		return this.time.now().plusNanos(this.deadlineNanos - this.time.nanoTime());
	}

	@Override
	public Duration remaining() {
		return Duration.ofNanos(Math.max(0, this.deadlineNanos - this.time.nanoTime()));
	}

	@Override
	public boolean isCancelled() {
		return this.cancelled;
	}

	@Override
	public void handled() {
		this.answers.handled(this);
	}

	@Override
	public void failed(Throwable error) {
		this.answers.failed(this, error);
	}

	@Override
	public void ack() {
		this.answers.handled(this);
	}

	@Override
	public void acknowledge() {
		this.answers.handled(this);
	}

	@Override
	public boolean isOutOfOrderCommit() {
		return true;
	}

	@Override
	public void nack(Duration sleep) {
		retryAfter(sleep);
	}

	@Override
	public void retryAfter(Duration delay) {
		if (delay.isNegative()) {
			throw new IllegalArgumentException("'delay' must not be negative: " + delay);
		}
		run(() -> this.answers.retryAfter(this, delay));
	}

	@Override
	public void reject(String reason) {
		run(() -> this.answers.rejected(this, reason));
	}

	@Override
	public String toString() {
		return this.delivery + " attempt " + this.number;
	}

	private enum Occupancy {

		OCCUPIED, ENDED, LEAKED

	}

	/**
	 * How far an attempt has come.
	 */
	public enum Progress {

		/** Its handler runs on a worker. */
		OPEN,

		/** Its handler has returned; the answer is awaited. */
		DETACHED,

		/** Its handler has answered. */
		ANSWERED,

		/** Somebody else has decided before its handler answered. */
		CUT_OFF;

		/**
		 * Whether it is known what becomes of the record.
		 * @return {@code false} if an answer is awaited
		 */
		public boolean isDecided() {
			return this == ANSWERED || this == CUT_OFF;
		}

	}

}
