package io.queuestarter.jobs;

import io.queuestarter.QueueException;

/**
 * Thrown when what is resolved is too scattered to be remembered.
 */
final class ResolvedSetFullException extends QueueException {

	private static final long serialVersionUID = 1L;

	ResolvedSetFullException() {
		super("The dead letters resolved lie too far apart for more to be remembered in 4,096 characters a partition. "
				+ "Merge or purge the oldest ones first, or all.", null);
	}

}
