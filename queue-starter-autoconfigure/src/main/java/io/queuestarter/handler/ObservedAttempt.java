package io.queuestarter.handler;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.AttemptOutcome;
import io.queuestarter.handler.AttemptObserver.Observed;

/**
 * Ends the observation of an attempt when both are true: its handler has returned, and
 * its outcome is known. Whatever an observer throws changes nothing for the record.
 * <em>Thread-safe.</em>
 */
/*
 * Each side first says that it has come and then looks whether the other has; so at least
 * one finds both, and whoever takes the observation out ends it.
 */
final class ObservedAttempt {

	private final AtomicReference<@Nullable Observed> observed;

	private final Consumer<Throwable> problems;

	private final AtomicReference<@Nullable Conclusion> conclusion = new AtomicReference<>();

	/** Volatile; set by the worker. */
	private volatile boolean left;

	ObservedAttempt(Observed observed, Consumer<Throwable> problems) {
		this.observed = new AtomicReference<>(observed);
		this.problems = problems;
	}

	/**
	 * Throws if memory ends: the attempt has not begun, and nothing can be concluded.
	 */
	void enter() {
		Observed current = this.observed.get();
		try {
			if (current != null) {
				current.enter();
			}
		}
		catch (Throwable ex) {
			if (Failures.isOutOfMemory(ex)) {
				throw ex;
			}
			tell(ex);
		}
	}

	void leave() {
		Observed current = this.observed.get();
		if (current != null) {
			guarded(current, Observed::leave);
		}
		this.left = true;
		endIfOver();
	}

	/** Timer and consumer thread run no user code. */
	void concluded(AttemptOutcome outcome, @Nullable Throwable error) {
		if (!this.conclusion.compareAndSet(null, new Conclusion(outcome, error)) || !this.left) {
			return;
		}
		if (outcome.isCutOff()) {
			ForkJoinPool.commonPool().execute(this::endIfOver);
		}
		else {
			endIfOver();
		}
	}

	private void endIfOver() {
		Conclusion last = this.conclusion.get();
		if (last == null) {
			return;
		}
		Observed ending = this.observed.getAndSet(null);
		if (ending != null) {
			guarded(ending, (observation) -> observation.end(last.outcome(), last.error()));
			// Records wait for long, and need not keep what they failed with.
			this.conclusion.set(new Conclusion(last.outcome(), null));
		}
	}

	private void guarded(Observed current, Consumer<Observed> call) {
		try {
			call.accept(current);
		}
		catch (Throwable ex) {
			tell(ex);
		}
	}

	private void tell(Throwable error) {
		try {
			this.problems.accept(error);
		}
		catch (Throwable ex) {
			// The attempt is to be ended, whether or not there is memory for a line.
		}
	}

	private record Conclusion(AttemptOutcome outcome, @Nullable Throwable error) {

	}

}
