package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
 * until it is seen again. In another cluster, to which clients may be led by a failover,
 * a topic has another id, and yet the offsets of the group were carried over.
 */
final class TopicLives {

	private static final Logger LOGGER = LoggerFactory.getLogger(TopicLives.class);

	private final String queue;

	private final Supplier<Admin> admin;

	private final Map<String, Topic> topics = new ConcurrentHashMap<>();

	private final AtomicInteger changes = new AtomicInteger();

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
		if (names.isEmpty()) {
			return new CountDownLatch(0);
		}
		try {
			Admin client = this.admin.get();
			KafkaFuture<String> cluster = client.describeCluster().clusterId();
			Map<String, KafkaFuture<TopicDescription>> answers = client.describeTopics(names).topicNameValues();
			CountDownLatch open = new CountDownLatch(answers.size());
			cluster.whenComplete((clusterId, unknown) -> answers
				.forEach((name, answer) -> answer.whenComplete((description, error) -> {
					answered(name, clusterId, description, error);
					open.countDown();
				})));
			return open;
		}
		catch (KafkaException | IllegalStateException ex) {
			LOGGER.warn("Queue '{}' cannot ask about its topics, and would not notice if one was created anew",
					this.queue, ex);
			return new CountDownLatch(0);
		}
	}

	private void answered(String name, @Nullable String cluster, @Nullable TopicDescription description,
			@Nullable Throwable error) {
		Topic known = this.topics.get(name);
		if (cluster != null && description != null && !Uuid.ZERO_UUID.equals(description.topicId())) {
			if (known == null) {
				known = this.topics.computeIfAbsent(name, (key) -> new Topic(cluster, description));
			}
			known.seen(cluster, description.topicId());
		}
		else if (known != null && error instanceof UnknownTopicOrPartitionException) {
			known.missed();
		}
		else {
			LOGGER.debug("The broker does not tell of '{}'", name, error);
		}
	}

	/** Number of new lives seen so far, of all topics. */
	int changes() {
		return this.changes.get();
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

		/** Read and written under this object's lock. */
		private final Set<Uuid> ids = new HashSet<>();

		/** Read and written under this object's lock. */
		private String cluster;

		/** Volatile; written under this object's lock. */
		private volatile int life;

		/** Volatile; written under this object's lock. */
		private volatile boolean missing;

		Topic(String cluster, TopicDescription description) {
			this.cluster = cluster;
			this.name = description.name();
			this.partitions = description.partitions().size();
			this.ids.add(description.topicId());
		}

		synchronized void seen(String currentCluster, Uuid id) {
			if (!this.cluster.equals(currentCluster)) {
				this.cluster = currentCluster;
				this.ids.clear();
				this.ids.add(id);
			}
			if (this.ids.add(id)) {
				this.life++;
				TopicLives.this.changes.incrementAndGet();
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
