package io.queuestarter.browse;

/**
 * How a scan goes on after a dead letter.
 */
public enum Verdict {

	/** With the next one. */
	NEXT,

	/** Without the partition of this one. */
	LEAVE,

	/** Not at all. */
	STOP

}
