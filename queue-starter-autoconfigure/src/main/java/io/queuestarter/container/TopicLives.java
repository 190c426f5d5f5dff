package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells topics from those that bore their name before, by asking the broker for their
 * ids. <em>Thread-safe.</em>
 */
/*
 * A consumer goes on at its position when a topic is deleted and created anew: what the
 * new one holds below is skipped, and a late commit says of the new topic what was true
 * of the old one. Neither consumer nor commit tells.
 *
 * A broker that lags behind may not know a topic, or give an id of the past. So only an
 * id never seen before is a proof, and a topic that is not there is merely not committed
 * until it is seen again.
 */
final class TopicLives {

	private static final Logger LOGGER = LoggerFactory.getLogger(TopicLives.class);

	private final String queue;

	private final Supplier<Admin> admin;

	private final Map<String, Topic> topics = new ConcurrentHashMap<>();

	TopicLives(String queue, Supplier<Admin> admin) {
		this.queue = queue;
		this.admin = admin;
	}

	/** Asks for the topics as they are now, without waiting for the answer. */
	void ask(Collection<String> names) {
		query(names);
	}

	/**
	 * Asks for the topics and waits for the answer, but not longer than so. Without one
	 * all stays as it was.
	 */
	void await(Collection<String> names, Duration limit) {
		try {
			if (!query(names).await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
				LOGGER.debug("The broker has not told of {} within {}", names, limit);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private CountDownLatch query(Collection<String> names) {
		Map<String, KafkaFuture<TopicDescription>> answers = names.isEmpty() ? Map.of() : describe(names);
		CountDownLatch open = new CountDownLatch(answers.size());
		answers.forEach((name, answer) -> answer.whenComplete((description, error) -> {
			answered(name, description, error);
			open.countDown();
		}));
		return open;
	}

	private Map<String, KafkaFuture<TopicDescription>> describe(Collection<String> names) {
		try {
			return this.admin.get().describeTopics(names).topicNameValues();
		}
		catch (KafkaException | IllegalStateException ex) {
			LOGGER.warn("Queue '{}' cannot ask about its topics, and would not notice if one was created anew",
					this.queue, ex);
			return Map.of();
		}
	}

	private void answered(String name, @Nullable TopicDescription description, @Nullable Throwable error) {
		if (description != null) {
			this.topics.computeIfAbsent(name, (key) -> new Topic(description)).seen(description);
		}
		else if (error instanceof UnknownTopicOrPartitionException) {
			Topic topic = this.topics.get(name);
			if (topic != null) {
				topic.missed();
			}
		}
		else {
			LOGGER.debug("The broker does not tell of '{}'", name, error);
		}
	}

	/** Number of the topic's life, counted up each time that it is created anew. */
	int life(String name) {
		Topic topic = this.topics.get(name);
		return (topic != null) ? topic.life : 0;
	}

	/** Whether the topic was seen, and then was not there. */
	boolean isMissing(String name) {
		Topic topic = this.topics.get(name);
		return topic != null && topic.missing;
	}

	/** Whether the topic was ever seen. */
	boolean isKnown(String name) {
		return this.topics.containsKey(name);
	}

	/**
	 * Whether the partition came to be while the queue already worked on its topic, so
	 * that each record of it is meant for the queue.
	 */
	boolean isNew(TopicPartition partition) {
		Topic topic = this.topics.get(partition.topic());
		return topic != null && (topic.life > 0 || partition.partition() >= topic.partitions);
	}

	/**
	 * What is known of the topics of one name.
	 */
	private final class Topic {

		private final String name;

		/** Partitions when it was first seen. */
		private final int partitions;

		private final Set<Uuid> ids = new HashSet<>();

		/** Volatile; written under this object's lock. */
		private volatile int life;

		/** Volatile; written under this object's lock. */
		private volatile boolean missing;

		Topic(TopicDescription description) {
			this.name = description.name();
			this.partitions = description.partitions().size();
			this.ids.add(description.topicId());
		}

		synchronized void seen(TopicDescription description) {
			if (this.ids.add(description.topicId())) {
				this.life++;
				if (!this.missing) {
					LOGGER.warn("Topic '{}' was deleted and created anew; queue '{}' reads it from its beginning",
							this.name, TopicLives.this.queue);
				}
			}
			this.missing = false;
		}

		synchronized void missed() {
			if (!this.missing) {
				LOGGER.warn("Topic '{}' is not there any more; queue '{}' commits nothing of it, and reads it from "
						+ "its beginning should it be created anew", this.name, TopicLives.this.queue);
			}
			this.missing = true;
		}

	}

}
