package io.queuestarter.log;

import java.util.Map;

import org.slf4j.MDC;

/**
 * What the lines of a thread carry in the log beside their text: the MDC at one moment.
 * <em>Immutable.</em>
 */
public final class LogContext {

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
	 * @return a copy
	 */
	public static LogContext current() {
		Map<String, String> entries = MDC.getCopyOfContextMap();
		return (entries != null && !entries.isEmpty()) ? new LogContext(entries) : EMPTY;
	}

	/**
	 * Makes it that of the calling thread, whatever that had.
	 */
	public void set() {
		if (this.entries.isEmpty()) {
			MDC.clear();
		}
		else {
			MDC.setContextMap(this.entries);
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
		LogContext before = current();
		this.entries.forEach(MDC::put);
		try {
			task.run();
		}
		finally {
			before.set();
		}
	}

}
