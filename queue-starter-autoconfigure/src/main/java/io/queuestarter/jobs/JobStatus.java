package io.queuestarter.jobs;

/**
 * Where a job stands.
 */
public enum JobStatus {

	/** It waits until the dead-letter topics are its own. */
	PENDING,

	/** It works. */
	RUNNING,

	/** It was told to end, and waits for what is under way. */
	CANCELLING,

	/** It was told to end before all was done. */
	CANCELLED,

	/** All was done that could be. */
	COMPLETED,

	/** It could not go on. */
	FAILED;

	/**
	 * Whether the job will do nothing any more.
	 * @return {@code true} if it is over
	 */
	public boolean isEnded() {
		return this == CANCELLED || this == COMPLETED || this == FAILED;
	}

}
