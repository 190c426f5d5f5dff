package io.queuestarter;

/**
 * Which records of a queue wait for which.
 *
 * @since 0.1.0
 */
public enum Ordering {

	/**
	 * No record waits for another: as many run at one time as {@code max-in-flight}
	 * allows.
	 */
	UNORDERED

}
