package io.queuestarter.jobs;

import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

/**
 * Thrown when a job cannot go on; its message is for operators.
 */
final class JobFailedException extends QueueException {

	private static final long serialVersionUID = 1L;

	JobFailedException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
