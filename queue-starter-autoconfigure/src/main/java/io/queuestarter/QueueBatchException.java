package io.queuestarter;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Thrown by a handler that takes a batch, or what its future fails with: names the
 * records that failed, and says that all others are handled. Each of the named fails with
 * its exception as if it had been handled alone and thrown it: a
 * {@link QueueRejectException} dead-letters it, a {@link QueueRetryException} says when
 * to try again.
 *
 * @since 0.1.0
 */
public class QueueBatchException extends QueueException {

	private static final long serialVersionUID = 1L;

	private final TreeMap<Integer, Throwable> failures;

	/**
	 * Names what failed. If one of the indexes is not of the batch, no record is taken
	 * for handled: each is tried again alone.
	 * @param failures exceptions by index in the batch, counted from 0; at least one
	 * @throws IllegalArgumentException if there are no failures
	 */
	public QueueBatchException(Map<Integer, ? extends Throwable> failures) {
		super("Failed of a batch: " + failures.keySet(), null);
		if (failures.isEmpty() || failures.values().stream().anyMatch(Objects::isNull)) {
			throw new IllegalArgumentException("'failures' must not be empty, nor contain null");
		}
		this.failures = new TreeMap<>(failures);
	}

	/**
	 * What failed.
	 * @return exceptions by index in the batch, in order
	 */
	public final Map<Integer, Throwable> getFailures() {
		return Collections.unmodifiableMap(this.failures);
	}

}
