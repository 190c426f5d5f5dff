package io.queuestarter.deadletter;

/**
 * What becomes of a record that its dead-letter topic refuses as too large.
 */
public enum TooLarge {

	/** It is held, and written again from time to time. */
	HOLD,

	/**
	 * A stub takes its place: key, headers and coordinates, but no value. The record
	 * itself stays in its topic until it is deleted there.
	 */
	STUB

}
