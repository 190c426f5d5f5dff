package io.queuestarter;

import org.jspecify.annotations.Nullable;

/**
 * Root of the exceptions of this library.
 *
 * @since 0.1.0
 */
public class QueueException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception with a message and, if there is one, its cause.
	 * @param message what happened
	 * @param cause what caused it, or {@code null}
	 */
	public QueueException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
