package io.queuestarter.deadletter;

import java.util.Locale;

/**
 * Why a record was dead-lettered.
 */
public enum DeadLetterReason {

	/** The handler rejected it. */
	NACK,

	/** The developer said that no attempt can succeed after such an exception. */
	NOT_RETRYABLE,

	/** The last attempt allowed failed. */
	RETRIES_EXHAUSTED,

	/** The last attempt allowed timed out. */
	TIMEOUT,

	/** It held the watermark of its partition for too long. */
	HOL_CANCEL,

	/** It is too large for the retry topic it was to rest in. */
	TOO_LARGE,

	/** Key or value could not be deserialized. */
	UNDECODABLE,

	/** The payload did not convert or validate, or a required header is missing. */
	UNPROCESSABLE,

	/** Its lane is not served here. */
	FOREIGN_LANE;

	/**
	 * The reason as tag and header value.
	 * @return lower case with underscores
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT);
	}

}
