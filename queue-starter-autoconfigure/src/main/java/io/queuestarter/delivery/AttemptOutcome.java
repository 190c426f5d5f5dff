package io.queuestarter.delivery;

/**
 * What became of an attempt.
 */
public enum AttemptOutcome {

	/** Its record is handled. */
	ACKED("acked"),

	/** It failed, and another follows. */
	RETRIED("retried"),

	/** It failed, and its record goes to another topic. */
	NACKED("nacked"),

	/** Its time was over before it answered. */
	TIMED_OUT("timed_out"),

	/**
	 * Nobody waits for its answer: the partition was given up, or the record moved aside.
	 */
	CANCELLED("cancelled");

	private final String tag;

	AttemptOutcome(String tag) {
		this.tag = tag;
	}

	/**
	 * The outcome as meters and traces show it.
	 * @return lower-case text
	 */
	public String tag() {
		return this.tag;
	}

	/**
	 * Whether somebody else than the handler decided, on a thread that must go on.
	 * @return {@code false} if the handler answered
	 */
	public boolean isCutOff() {
		return this == TIMED_OUT || this == CANCELLED;
	}

}
