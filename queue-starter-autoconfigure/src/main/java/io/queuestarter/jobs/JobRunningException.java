package io.queuestarter.jobs;

import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

/**
 * Thrown when a job cannot start since another one works on the same dead letters.
 */
public final class JobRunningException extends QueueException {

	private static final long serialVersionUID = 1L;

	private final String job;

	private final String instance;

	JobRunningException(String job, String instance, @Nullable String host) {
		super("Job '" + job + "' works on these dead letters, on instance " + instance
				+ ((host != null) ? " (" + host + ")" : ""), null);
		this.job = job;
		this.instance = instance;
	}

	/**
	 * Id of the other job.
	 * @return the id
	 */
	public String getJob() {
		return this.job;
	}

	/**
	 * Process that runs it.
	 * @return its name
	 */
	public String getInstance() {
		return this.instance;
	}

}
