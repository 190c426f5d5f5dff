package io.queuestarter.browse;

import java.util.Locale;

/**
 * Why a scan ended.
 */
public enum StoppedBy {

	/** There are enough matches. */
	LIMIT,

	/** The time is over. */
	TIMEOUT,

	/** Enough records were read. */
	MAX_SCAN,

	/** All was read that was there at the beginning. */
	END;

	/**
	 * The reason as answers show it.
	 * @return lower case with hyphens
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
