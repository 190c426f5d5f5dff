package io.queuestarter.jobs;

/**
 * Told of what jobs do. Called on the thread that asks for a job, and on the job's.
 */
public interface JobListener {

	/**
	 * A job was started.
	 * @param job the job
	 */
	void started(JobView job);

	/**
	 * Somebody has told a job to end.
	 * @param job the job
	 * @param by who
	 */
	void cancelled(JobView job, String by);

	/**
	 * A job is over.
	 * @param job the job
	 */
	void ended(JobView job);

}
