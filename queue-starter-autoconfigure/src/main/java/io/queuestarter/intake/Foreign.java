package io.queuestarter.intake;

/**
 * What becomes of records whose lane is not served here.
 */
public enum Foreign {

	/** They count as settled: another consumer group serves them. */
	SKIP,

	/** They stay unsettled and hold the watermark until another owner serves them. */
	HOLD,

	/** They go to the dead-letter topic. */
	DEAD_LETTER,

	/** They go to a topic of their own. */
	FORWARD

}
