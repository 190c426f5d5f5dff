package io.queuestarter;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a handler to dead-letter the record at once, without further attempts.
 *
 * @since 0.1.0
 */
public class QueueRejectException extends QueueException {

	private static final long serialVersionUID = 1L;

	/**
	 * Rejects the record.
	 * @param reason why, for the operator who will read the dead letter
	 */
	public QueueRejectException(String reason) {
		super(reason, null);
	}

	/**
	 * Rejects the record because of {@code cause}.
	 * @param reason why, for the operator who will read the dead letter
	 * @param cause what caused it, or {@code null}
	 */
	public QueueRejectException(String reason, @Nullable Throwable cause) {
		super(reason, cause);
	}

}
