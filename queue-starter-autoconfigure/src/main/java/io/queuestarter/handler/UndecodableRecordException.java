package io.queuestarter.handler;

import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

/**
 * Key or value of a record could not be deserialized.
 */
final class UndecodableRecordException extends QueueException {

	private static final long serialVersionUID = 1L;

	UndecodableRecordException(String part, String deserializer, @Nullable Throwable cause) {
		super("The " + part + " could not be decoded by " + deserializer, cause);
	}

}
