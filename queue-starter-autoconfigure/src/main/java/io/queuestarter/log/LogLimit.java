package io.queuestarter.log;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Warnings about events of one kind, at most one in 10 seconds. The first event is told
 * at once; those that follow it are counted, and told as a number with the next warning.
 * Each of them has its own line at DEBUG. <em>Thread-safe.</em>
 */
public final class LogLimit {

	private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final LongSupplier nanoTime;

	/** Time from which on the next event is told; by compare-and-set. */
	private final AtomicLong next;

	private final LongAdder untold = new LongAdder();

	/**
	 * Creates a limit that has told nothing yet.
	 * @param nanoTime nanoseconds since an arbitrary origin, never going back
	 */
	public LogLimit(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.next = new AtomicLong(nanoTime.getAsLong());
	}

	/**
	 * Tells of an event, or counts it. Throws nothing, also if an argument cannot be
	 * described: that is user code.
	 * @param logger where to
	 * @param text what happened, a sentence without a full stop
	 * @param arguments what the text's placeholders stand for, and an exception perhaps
	 */
	public void warn(Logger logger, String text, @Nullable Object... arguments) {
		long nowNanos = this.nanoTime.getAsLong();
		long due = this.next.get();
		boolean told = nowNanos - due >= 0 && this.next.compareAndSet(due, nowNanos + INTERVAL_NANOS);
		if (told) {
			long more = this.untold.sumThenReset();
			log((line, values) -> logger.warn(line, values),
					(more > 0) ? text + ", and " + more + " more since the last such line" : text, arguments);
		}
		else {
			this.untold.increment();
			log((line, values) -> logger.debug(line, values), text, arguments);
		}
	}

	private static void log(BiConsumer<String, @Nullable Object[]> line, String text, @Nullable Object[] arguments) {
		try {
			line.accept(text, arguments);
		}
		catch (RuntimeException | LinkageError | AssertionError | StackOverflowError ex) {
			line.accept(text + ": {}", byName(arguments));
		}
	}

	/** With an exception by the name of its class, which asks nothing of it. */
	private static @Nullable Object[] byName(@Nullable Object[] arguments) {
		@Nullable Object[] names = arguments.clone();
		for (int i = 0; i < names.length; i++) {
			Object argument = names[i];
			if (argument instanceof Throwable) {
				names[i] = argument.getClass().getName();
			}
		}
		return names;
	}

}
