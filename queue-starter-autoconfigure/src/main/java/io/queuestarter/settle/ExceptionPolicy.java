package io.queuestarter.settle;

import java.util.List;

import io.queuestarter.handler.Failures;

/**
 * Which exceptions of a handler are worth another attempt, as its developer says.
 * <em>Immutable, thread-safe.</em>
 * <p>
 * An exception matches a type if it, or one of its causes, is an instance of it. If it
 * matches types of both kinds, the type decides that stands closest to the class of what
 * it matched; at the same distance the record is dead-lettered. An exception that matches
 * none is tried again, unless there are types to retry for.
 *
 * @param retryFor types that are tried again, and no others; empty to try all again
 * @param dlqFor types that are dead-lettered at once
 */
public record ExceptionPolicy(List<Class<? extends Throwable>> retryFor, List<Class<? extends Throwable>> dlqFor) {

	/**
	 * Tries every exception again.
	 */
	public static final ExceptionPolicy RETRY_ALL = new ExceptionPolicy(List.of(), List.of());

	private static final int NO_MATCH = Integer.MAX_VALUE;

	/**
	 * Creates a policy.
	 * @param retryFor types that are tried again, and no others; empty to try all again
	 * @param dlqFor types that are dead-lettered at once
	 */
	public ExceptionPolicy {
		retryFor = List.copyOf(retryFor);
		dlqFor = List.copyOf(dlqFor);
	}

	/**
	 * Whether another attempt may follow.
	 * @param error an unwrapped exception
	 * @return {@code false} if no attempt can succeed
	 */
	public boolean isRetryable(Throwable error) {
		if (this.retryFor.isEmpty() && this.dlqFor.isEmpty()) {
			return true;
		}
		List<Throwable> chain = Failures.chain(error);
		int retry = distance(chain, this.retryFor);
		int dlq = distance(chain, this.dlqFor);
		return (retry == NO_MATCH && dlq == NO_MATCH) ? this.retryFor.isEmpty() : retry < dlq;
	}

	/** Steps from the closest exception of a chain up to the closest type. */
	private static int distance(List<Throwable> chain, List<Class<? extends Throwable>> types) {
		int least = NO_MATCH;
		for (Throwable error : chain) {
			int steps = 0;
			for (Class<?> type = error.getClass(); type != null && steps < least; type = type.getSuperclass()) {
				if (types.contains(type)) {
					least = steps;
				}
				steps++;
			}
		}
		return least;
	}

}
