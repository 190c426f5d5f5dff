package io.queuestarter.jobs;

import java.util.Locale;

/**
 * Why a job leaves a dead letter where it is although the filter matches it.
 */
public enum SkipReason {

	/** It was merged as often as is allowed. */
	MAX_MERGES,

	/** Its headers do not tell which topic it came from. */
	NO_ORIGIN,

	/** It came from a topic that the queue does not consume. */
	FOREIGN_ORIGIN,

	/** Another consumer group dead-lettered it. */
	FOREIGN_GROUP,

	/** The topic that it came from does not exist any more. */
	VANISHED_ORIGIN,

	/** It is a stub: its value was too large for the dead-letter topic. */
	NO_VALUE;

	/**
	 * The reason as operators read it.
	 * @return lower case with underscores
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT);
	}

}
