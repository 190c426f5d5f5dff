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
	 * @param delivery the record
	 * @return the dead-letter topic; if there is none, a retry topic; or {@code null} if
	 * there is neither
	 */
	@Nullable Destination afterVerdict(Delivery delivery) {
		return afterVerdict(stage(delivery), retries(delivery));
	}

	@Nullable Destination afterVerdict(Stage stage, int retries) {
		Destination dead = deadLetter(stage, retries);
		return (dead != null) ? dead : afterAttempts(stage, retries);
	}

	/**
	 * Where a record goes that has used up its attempts.
	 * @param delivery the record
	 * @return the next retry topic, and after the last the dead-letter topic; the last
	 * retry topic if there is no dead-letter topic; or {@code null} if there is neither
	 */
	@Nullable Destination afterAttempts(Delivery delivery) {
		return afterAttempts(stage(delivery), retries(delivery));
	}

	/** What failed again after people took it out goes back to them, and not to rest. */
	@Nullable Destination afterAttempts(Stage stage, int retries) {
		if (stage.kind() == Stage.Kind.DEAD_LETTER) {
			return deadLetter(stage, retries);
		}
		String next = this.retryTopics.next(stage.source(), retries);
		Destination dead = deadLetter(stage, retries);
		if (next == null && dead == null) {
			next = this.retryTopics.last(stage.source());
		}
		return (next != null) ? new Destination(Kind.RETRY, next, retries + 1) : dead;
	}

	/**
	 * Where a record goes that holds up its partition.
	 * @param delivery the record
	 * @return the topic, or {@code null} if it must stay
	 */
	@Nullable Destination aside(Delivery delivery) {
		return aside(stage(delivery), retries(delivery));
	}

	@Nullable Destination aside(Stage stage, int retries) {
		return switch (this.aside) {
			case DLQ -> deadLetter(stage, retries);
			case RETRY -> afterAttempts(stage, retries);
			case PARK -> {
				String parkTopic = this.retryTopics.park(stage);
				yield (parkTopic != null) ? new Destination(Kind.PARK, parkTopic, retries) : null;
			}
		};
	}

	/**
	 * Where a record goes that another topic refuses as too large.
	 * @param delivery the record
	 * @return the dead-letter topic, or {@code null} if there is none
	 */
	public @Nullable Destination deadLetter(Delivery delivery) {
		return deadLetter(stage(delivery), retries(delivery));
	}

	private @Nullable Destination deadLetter(Stage stage, int retries) {
		return (this.deadLetterTopic != null)
				? new Destination(Kind.DEAD_LETTER, this.deadLetterTopic.replace("{topic}", stage.source()), retries)
				: null;
	}

	private static Stage stage(Delivery delivery) {
		return delivery.assignment().stage();
	}

	private static int retries(Delivery delivery) {
		return delivery.history().retries();
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
