package io.queuestarter.browse;

import java.time.Duration;

/**
 * Bounds of a search.
 *
 * @param maxScan largest number of records read for one answer
 * @param timeout longest time that an answer takes
 * @param pageSize dead letters of an answer, unless asked otherwise
 */
public record SearchSettings(int maxScan, Duration timeout, int pageSize) {

	/**
	 * Largest number of dead letters of an answer.
	 */
	public static final int MAX_PAGE = 500;

}
