package io.queuestarter.jobs;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * Tells topics from those that bear their names later. <em>Job thread only.</em>
 * <p>
 * Neither consumer nor commit notices that a topic is deleted and created anew: what was
 * resolved of the old one would hide letters of the new one.
 */
final class TopicIds {

	private static final long LOOK_UP_SECONDS = 5;

	private final Admin admin;

	/** Those that existed at first. */
	private final Map<String, Uuid> ids = new HashMap<>();

	TopicIds(Admin admin, Collection<String> topics) {
		this.admin = admin;
		admin.describeTopics(topics).topicNameValues().forEach((topic, answer) -> {
			Uuid id = id(topic, answer);
			if (id != null) {
				this.ids.put(topic, id);
			}
		});
	}

	/**
	 * Asks the broker.
	 * @throws JobFailedException if a topic is not the one that it was
	 */
	void check() {
		this.admin.describeTopics(this.ids.keySet()).topicNameValues().forEach((topic, answer) -> {
			if (!Objects.equals(this.ids.get(topic), id(topic, answer))) {
				throw new JobFailedException("Topic '" + topic
						+ "' was deleted, or deleted and created anew; nothing is remembered of the one there was",
						null);
			}
		});
	}

	private static @Nullable Uuid id(String topic, KafkaFuture<TopicDescription> answer) {
		try {
			return answer.get(LOOK_UP_SECONDS, TimeUnit.SECONDS).topicId();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new JobFailedException("Interrupted while topic '" + topic + "' was looked up", ex);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
				return null;
			}
			throw new JobFailedException("Topic '" + topic + "' could not be looked up: " + ex.getCause(), ex);
		}
		catch (TimeoutException ex) {
			throw new JobFailedException(
					"Topic '" + topic + "' could not be looked up within " + LOOK_UP_SECONDS + " s", ex);
		}
	}

}
