package io.queuestarter.container;

/**
 * Where a queue stands in its life.
 */
public enum QueueState {

	/** Started, and not polled yet. */
	STARTING,

	/** Polls and handles. */
	RUNNING,

	/** Paused by an operator: what was polled is handled, nothing more is fetched. */
	PAUSED,

	/** Stopping: waits for what is in flight. */
	DRAINING,

	/** Stopped, or not started. */
	STOPPED,

	/** Stopped by itself; somebody must act. */
	FAILED

}
