package io.queuestarter.jobs;

/**
 * What a job does with dead letters.
 */
public enum JobAction {

	/** Has them handled again. */
	MERGE,

	/** Has one of them handled again with another value or other headers. */
	REPLAY,

	/** Declares that nothing more is to be done about them. */
	PURGE

}
