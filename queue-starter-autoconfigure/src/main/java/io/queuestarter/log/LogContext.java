package io.queuestarter.log;

import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * What the lines of a thread carry in the log beside their text: the MDC at one moment.
 * <em>Immutable.</em> An MDC is foreign code: what it throws is logged, and keeps nobody
 * from anything.
 */
public final class LogContext {

	private static final Logger LOGGER = LoggerFactory.getLogger(LogContext.class);

	private static final LogLimit PROBLEMS = new LogLimit(System::nanoTime);

	/**
	 * Without entries.
	 */
	public static final LogContext EMPTY = new LogContext(Map.of());

	private final Map<String, String> entries;

	private LogContext(Map<String, String> entries) {
		this.entries = entries;
	}

	/**
	 * That of the calling thread.
	 * @return a copy; empty if there is none to be had
	 */
	public static LogContext current() {
		try {
			Map<String, String> entries = MDC.getCopyOfContextMap();
			return (entries != null && !entries.isEmpty()) ? new LogContext(entries) : EMPTY;
		}
		catch (Throwable ex) {
			failed(ex);
			return EMPTY;
		}
	}

	/**
	 * Makes it that of the calling thread, whatever that had.
	 */
	public void set() {
		try {
			if (this.entries.isEmpty()) {
				MDC.clear();
			}
			else {
				MDC.setContextMap(this.entries);
			}
		}
		catch (Throwable ex) {
			failed(ex);
		}
	}

	/**
	 * Runs a task whose lines carry it, beside what those of the calling thread carry
	 * anyway. The thread is left as it was.
	 * @param task the task
	 */
	public void run(Runnable task) {
		if (this.entries.isEmpty()) {
			task.run();
			return;
		}
		run(() -> this.entries.forEach(MDC::put), task);
	}

	/**
	 * Runs a task with another MDC. The thread is left as it was.
	 * @param filling fills the MDC
	 * @param task the task, which is run also if that fails
	 */
	public static void run(Runnable filling, Runnable task) {
		LogContext before = current();
		try {
			filling.run();
		}
		catch (Throwable ex) {
			failed(ex);
		}
		try {
			task.run();
		}
		finally {
			before.set();
		}
	}

	private static void failed(Throwable error) {
		try {
			PROBLEMS.warn(LOGGER, "The MDC failed; log lines may tell of another record, or of none", error);
		}
		catch (Throwable ex) {
			// What the caller is about to do matters more than a line.
		}
	}

}
