package io.queuestarter.delivery;

import java.time.Duration;

/**
 * Which of a queue's topics a partition belongs to.
 *
 * @param source topic that its records come from in the first place
 * @param kind what the topic is for
 * @param delay time that a record rests in the topic before it is handled, counted from
 * its timestamp
 */
public record Stage(String source, Kind kind, Duration delay) {

	/**
	 * A topic that others write to.
	 * @param topic its name
	 * @return the stage, whose records are handled without delay
	 */
	public static Stage source(String topic) {
		return new Stage(topic, Kind.SOURCE, Duration.ZERO);
	}

	/**
	 * Whether the queue writes the topic itself, so that each record of it was read
	 * before and is owed.
	 * @return {@code false} if others write it
	 */
	public boolean isOwn() {
		return this.kind != Kind.SOURCE;
	}

	/**
	 * What a topic is for.
	 */
	public enum Kind {

		/** Others write it. */
		SOURCE,

		/** Failed records rest there until their next attempt. */
		RETRY,

		/** Records that held up a partition go on there, without holding others up. */
		PARK,

		/** People decide there about records that could not be handled. */
		DEAD_LETTER

	}

}
