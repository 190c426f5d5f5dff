package io.queuestarter.browse;

import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

/**
 * Dead letters could not be read: the broker did not answer in time, or refused.
 */
public final class BrowseException extends QueueException {

	private static final long serialVersionUID = 1L;

	BrowseException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
