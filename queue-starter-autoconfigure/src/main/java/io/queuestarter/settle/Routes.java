package io.queuestarter.settle;

import org.jspecify.annotations.Nullable;

import io.queuestarter.deadletter.Destination;
import io.queuestarter.deadletter.Destination.Kind;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.retry.RetryTopics;

/**
 * Where records go that are not tried again here. <em>Immutable.</em>
 */
public final class Routes {

	private final RetryTopics retryTopics;

	private final @Nullable String deadLetterTopic;

	private final Aside aside;

	/**
	 * Creates the routes of a queue.
	 * @param retryTopics the topics that the queue writes for itself
	 * @param deadLetterTopic name of the dead-letter topic, in which {@code {topic}}
	 * stands for the source topic; or {@code null} for none
	 * @param aside where records go that hold up a partition
	 */
	public Routes(RetryTopics retryTopics, @Nullable String deadLetterTopic, Aside aside) {
		this.retryTopics = retryTopics;
		this.deadLetterTopic = deadLetterTopic;
		this.aside = aside;
	}

	/**
	 * Where a record goes that no attempt can handle.
	 * @param stage where it was read
	 * @param retries times that it rested
	 * @return the dead-letter topic, or {@code null} if there is none
	 */
	@Nullable Destination deadLetter(Stage stage, int retries) {
		return (this.deadLetterTopic != null)
				? new Destination(Kind.DEAD_LETTER, this.deadLetterTopic.replace("{topic}", stage.source()), retries)
				: null;
	}

	/**
	 * Where a record goes that has used up its attempts.
	 * @param delivery the record
	 * @return the next retry topic, the dead-letter topic after the last, or {@code null}
	 * if there is neither
	 */
	@Nullable Destination afterAttempts(Delivery delivery) {
		Stage stage = delivery.assignment().stage();
		int retries = delivery.history().retries();
		String next = this.retryTopics.next(stage.source(), retries);
		return (next != null) ? new Destination(Kind.RETRY, next, retries + 1) : deadLetter(stage, retries);
	}

	/**
	 * Where a record goes that holds up its partition.
	 * @param delivery the record
	 * @return the topic, or {@code null} if it must stay
	 */
	@Nullable Destination aside(Delivery delivery) {
		Stage stage = delivery.assignment().stage();
		int retries = delivery.history().retries();
		return switch (this.aside) {
			case DLQ -> deadLetter(stage, retries);
			case RETRY -> afterAttempts(delivery);
			case PARK -> {
				String park = this.retryTopics.park(stage);
				yield (park != null) ? new Destination(Kind.PARK, park, retries) : null;
			}
		};
	}

	/**
	 * Where a record goes whose letter the topic refuses as too large.
	 * @param delivery the record
	 * @return the dead-letter topic, or {@code null} if there is none
	 */
	public @Nullable Destination deadLetter(Delivery delivery) {
		return deadLetter(delivery.assignment().stage(), delivery.history().retries());
	}

	/**
	 * Where records go that hold up a partition.
	 */
	public enum Aside {

		/** To the dead-letter topic. */
		DLQ,

		/** To the next retry topic, and after the last to the dead-letter topic. */
		RETRY,

		/** To a topic of their own, which the queue consumes beside the others. */
		PARK

	}

}
