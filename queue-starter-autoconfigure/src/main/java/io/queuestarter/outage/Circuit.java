package io.queuestarter.outage;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.lock.BriefLock;
import io.queuestarter.log.LogLimit;

/**
 * One thing that handlers depend on, as the outcomes of their attempts show it: a circuit
 * breaker, and the evidence that a record may be given up. <em>Thread-safe.</em>
 * <p>
 * While the breaker is open no attempt is made. A record that has used up its attempts is
 * given up only if the dependency is known to answer: an attempt for another record that
 * began after this record failed before has succeeded. Otherwise it is tried again, as
 * long as it takes, up to a patience.
 */
public final class Circuit {

	private static final Logger LOGGER = LoggerFactory.getLogger(Circuit.class);

	/** Time for which a refused record waits at most before it asks again. */
	private static final Duration PAUSE = Duration.ofSeconds(1);

	/** A newer success is noted if it is newer by this. */
	private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final String name;

	private final @Nullable CircuitBreaker breaker;

	/** Null if there is no breaker. */
	private final @Nullable BreakerWatch watch;

	private final TokenWindow budget;

	private final long patienceNanos;

	private final LogLimit outcomeFaults;

	/**
	 * Has outcomes enter the breaker one by one if they can, since the lock of its window
	 * parks who finds it taken. Nobody waits for it longer than a moment: behind it there
	 * may be user code.
	 */
	private final BriefLock entrance = new BriefLock();

	/** Start of the youngest attempt that succeeded. Written by any thread. */
	private volatile long lastSuccessNanos;

	Circuit(String name, @Nullable CircuitBreaker breaker, TokenWindow budget, long patienceNanos, long nowNanos,
			LogLimit openings, LogLimit outcomeFaults) {
		this.name = name;
		this.breaker = breaker;
		this.watch = (breaker != null) ? new BreakerWatch(breaker, openings) : null;
		this.budget = budget;
		this.patienceNanos = patienceNanos;
		this.outcomeFaults = outcomeFaults;
		this.lastSuccessNanos = nowNanos - RESOLUTION_NANOS;
	}

	/**
	 * Times that the breaker has opened.
	 * @return the number; another one than before tells that there was an outage since
	 */
	public int openings() {
		look();
		return (this.watch != null) ? this.watch.openings() : 0;
	}

	/** State of the breaker now, or null if there is none. */
	private @Nullable State look() {
		return (this.watch != null) ? this.watch.look() : null;
	}

	/**
	 * Asks for the right to make one attempt. Whoever gets it gives it back by
	 * {@link #succeeded}, {@link #failed} or {@link #released}, once.
	 * @return {@code false} if none may be made now
	 */
	public boolean tryAcquire() {
		look();
		return this.breaker == null || this.breaker.tryAcquirePermission();
	}

	/**
	 * An attempt succeeded.
	 * @param startedNanos when it began
	 * @param nowNanos the time
	 */
	public void succeeded(long startedNanos, long nowNanos) {
		CircuitBreaker told = this.breaker;
		if (told != null) {
			tell(told, () -> told.onSuccess(nowNanos - startedNanos, TimeUnit.NANOSECONDS));
		}
		if (startedNanos - this.lastSuccessNanos >= RESOLUTION_NANOS) {
			this.lastSuccessNanos = startedNanos;
		}
		this.budget.earn();
	}

	/**
	 * An attempt failed or timed out.
	 * @param startedNanos when it began
	 * @param nowNanos the time
	 * @param error why
	 */
	public void failed(long startedNanos, long nowNanos, Throwable error) {
		CircuitBreaker told = this.breaker;
		if (told != null) {
			tell(told, () -> told.onError(nowNanos - startedNanos, TimeUnit.NANOSECONDS, error));
		}
	}

	/** Predicates and event consumers of a breaker are user code. */
	private void tell(CircuitBreaker told, Runnable outcome) {
		boolean alone = false;
		try {
			alone = this.entrance.tryBriefly();
			outcome.run();
		}
		catch (Throwable ex) {
			rethrowIfFatal(ex);
			told.releasePermission();
			this.outcomeFaults.warn(LOGGER,
					"Circuit breaker '{}' could not take an outcome, the attempt does not count: {}", this.name,
					describe(ex));
		}
		finally {
			if (alone) {
				this.entrance.unlock();
			}
		}
		look();
	}

	/** Without its message, which may tell what is in a record. */
	static String describe(Throwable error) {
		String name = error.getClass().getName();
		try {
			StackTraceElement[] trace = error.getStackTrace();
			return (trace.length > 0) ? name + " at " + trace[0] : name;
		}
		catch (RuntimeException ex) {
			return name;
		}
	}

	/** Nothing can be concluded when the machine itself is out of order. */
	static void rethrowIfFatal(Throwable error) {
		if (error instanceof VirtualMachineError fatal && !(error instanceof StackOverflowError)) {
			throw fatal;
		}
	}

	/**
	 * An attempt ended, and says nothing of what it depends on.
	 */
	public void released() {
		if (this.breaker != null) {
			this.breaker.releasePermission();
		}
	}

	/**
	 * Asks whether a record that has used up its attempts may be given up; costs a token
	 * if so.
	 * @param firstFailureNanos when the record failed first
	 * @param beforeNanos when the record failed the time before, or when its attempt
	 * began if it is the first
	 * @param nowNanos the time
	 * @return {@code false} if it should be tried again
	 */
	public boolean mayGiveUp(long firstFailureNanos, long beforeNanos, long nowNanos) {
		return !isDoubtful() && (answersSince(beforeNanos) || isPatienceOver(firstFailureNanos, nowNanos))
				&& this.budget.tryTake(nowNanos);
	}

	/**
	 * Whether a record has failed for so long that it is taken to be at fault, although
	 * no other tells.
	 * @param firstFailureNanos when the record failed first
	 * @param nowNanos the time
	 * @return {@code true} if so
	 */
	public boolean isPatienceOver(long firstFailureNanos, long nowNanos) {
		return nowNanos - firstFailureNanos >= this.patienceNanos;
	}

	/**
	 * Whether what handlers depend on is known to answer.
	 * @param nanos a time
	 * @return {@code true} if an attempt that began later has succeeded
	 */
	public boolean answersSince(long nanos) {
		return this.lastSuccessNanos - nanos > 0;
	}

	/**
	 * Asks whether a record that holds others up may be given up; costs a token if so.
	 * @param nowNanos the time
	 * @return {@code false} if it should stay
	 */
	public boolean mayMoveAside(long nowNanos) {
		return !isDoubtful() && this.budget.tryTake(nowNanos);
	}

	/**
	 * Gives back the token of a record that was not given up after all.
	 */
	public void refund() {
		this.budget.refund();
	}

	/**
	 * Whether no attempt may be made.
	 * @return {@code true} if the breaker is open; {@code false} also while a few
	 * attempts find out
	 */
	public boolean isOpen() {
		State state = look();
		return state != null && BreakerWatch.isOpen(state);
	}

	/**
	 * Whether attempts are not made freely.
	 * @return {@code true} if the breaker is open, or lets a few attempts find out
	 */
	public boolean isDoubtful() {
		State state = look();
		return state != null && (state == State.HALF_OPEN || BreakerWatch.isOpen(state));
	}

	/**
	 * Whether a few attempts find out whether the breaker may close.
	 * @return {@code true} if it is half open
	 */
	public boolean isFindingOut() {
		return look() == State.HALF_OPEN;
	}

	/**
	 * How long a record that was refused waits before it asks again.
	 * @return the longest time
	 */
	public Duration pause() {
		return PAUSE;
	}

	/**
	 * What operators see.
	 * @param nowNanos the time
	 * @return the state now
	 */
	public CircuitState state(long nowNanos) {
		State state = look();
		return new CircuitState(this.name, (state != null) ? state.name() : "DISABLED",
				this.budget.available(nowNanos));
	}

	/**
	 * What is due without a record. An open breaker lets attempts find out only when it
	 * is asked after its waiting time, and nobody asks while intake is paused and nothing
	 * waits.
	 */
	void tick(long nowNanos) {
		this.budget.book(nowNanos);
		if (look() == State.OPEN && this.breaker != null && this.breaker.tryAcquirePermission()) {
			this.breaker.releasePermission();
			look();
		}
	}

}
