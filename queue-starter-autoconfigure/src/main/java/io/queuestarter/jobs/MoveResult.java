package io.queuestarter.jobs;

import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

/**
 * What has become of a letter that was moved.
 *
 * @param end how it ended
 * @param error what went wrong, if something did
 */
record MoveResult(End end, @Nullable Throwable error) {

	static final MoveResult DONE = new MoveResult(End.DONE, null);

	static final MoveResult FAILED_AGAIN = new MoveResult(End.FAILED_AGAIN, null);

	static final MoveResult LET_GO = new MoveResult(End.LET_GO, null);

	static MoveResult failed(Throwable error) {
		return new MoveResult(isOfLetter(error) ? End.UNFIT : End.FAILED, error);
	}

	static MoveResult refused(String reason) {
		return new MoveResult(End.REFUSED, new QueueException(reason, null));
	}

	/** Whether another letter may fare better, whatever is wrong with the target. */
	private static boolean isOfLetter(Throwable error) {
		return error instanceof RecordTooLargeException || error instanceof RecordBatchTooLargeException
				|| error instanceof InvalidTimestampException || error instanceof InvalidRecordException
				|| error instanceof SerializationException;
	}

	enum End {

		/** It is where it should be. */
		DONE,

		/** Its handler failed, and the broker has acknowledged a new dead letter. */
		FAILED_AGAIN,

		/** It was given up and stays. */
		LET_GO,

		/** The target takes no such letter: it stays. */
		UNFIT,

		/** It must not reach the target: it stays. */
		REFUSED,

		/** It could not be moved and stays. */
		FAILED

	}

}
