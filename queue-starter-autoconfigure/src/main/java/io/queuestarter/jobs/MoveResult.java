package io.queuestarter.jobs;

import org.jspecify.annotations.Nullable;

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
		return new MoveResult(End.FAILED, error);
	}

	enum End {

		/** It is where it should be. */
		DONE,

		/** Its handler failed, and the broker has acknowledged a new dead letter. */
		FAILED_AGAIN,

		/** It was given up and stays. */
		LET_GO,

		/** It could not be moved and stays. */
		FAILED

	}

}
