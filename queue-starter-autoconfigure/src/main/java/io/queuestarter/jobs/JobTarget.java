package io.queuestarter.jobs;

import org.jspecify.annotations.Nullable;

/**
 * Where dead letters go that are merged.
 *
 * @param kind what receives them
 * @param topic name of the topic, if a topic was named
 */
public record JobTarget(Kind kind, @Nullable String topic) {

	/** This queue's handler. */
	public static final JobTarget HANDLER = new JobTarget(Kind.HANDLER, null);

	/** The topics that they were read from first. */
	public static final JobTarget SOURCE = new JobTarget(Kind.SOURCE, null);

	/**
	 * A topic.
	 * @param topic its name
	 * @return the target
	 */
	public static JobTarget topic(String topic) {
		return new JobTarget(Kind.TOPIC, topic);
	}

	/**
	 * The target as operators write it.
	 * @return {@code handler}, {@code source}, or the name of a topic
	 */
	@Override
	public String toString() {
		return switch (this.kind) {
			case HANDLER -> "handler";
			case SOURCE -> "source";
			case TOPIC -> String.valueOf(this.topic);
		};
	}

	/**
	 * What receives dead letters.
	 */
	public enum Kind {

		/** This queue's handler: nobody else sees them again. */
		HANDLER,

		/** The topics that they were read from first, for all who consume these. */
		SOURCE,

		/** A topic. */
		TOPIC

	}

}
