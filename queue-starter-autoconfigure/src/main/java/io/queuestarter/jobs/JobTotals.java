package io.queuestarter.jobs;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What became of the dead letters that the jobs of this process took, since its start.
 * <em>Thread-safe.</em>
 */
public final class JobTotals {

	private final Map<Key, LongAdder> counts = new ConcurrentHashMap<>();

	/** What a job counts with. */
	LongAdder counter(String queue, JobAction action, Result result) {
		return this.counts.computeIfAbsent(new Key(queue, action, result), (key) -> new LongAdder());
	}

	/**
	 * Dead letters that ended in one way.
	 * @param queue id of their queue
	 * @param action what the jobs did
	 * @param result how they ended
	 * @return the number
	 */
	public long count(String queue, JobAction action, Result result) {
		LongAdder count = this.counts.get(new Key(queue, action, result));
		return (count != null) ? count.sum() : 0;
	}

	/**
	 * How a dead letter ends that a job takes. Each ends in one way.
	 */
	public enum Result {

		/** It was handled, written, or purged. */
		MOVED,

		/** Its handler failed; a new dead letter takes its place. */
		FAILED_AGAIN,

		/** It stays although the filter matches it. */
		SKIPPED,

		/** It could not be moved and stays. */
		FAILED;

		/**
		 * The result as meters name it.
		 * @return lower case with underscores
		 */
		public String tag() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	private record Key(String queue, JobAction action, Result result) {

	}

}
