package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Remembers which life of its topic each partition of one consumer belongs to.
 * <em>Consumer thread only.</em>
 */
final class PartitionLives {

	/** Time between two looks at topics. */
	private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

	/** The same while a topic is missing. */
	private static final long MISSING_LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** Longest wait for the broker when partitions come or go. */
	private static final Duration LIMIT = Duration.ofSeconds(3);

	private final TopicLives topics;

	private final Map<TopicPartition, Integer> lives = new HashMap<>();

	/** Partitions that the client has begun anew by itself, since the last look. */
	private final Set<TopicPartition> begunAnew = new HashSet<>();

	/** Changes of the topics as of the last renewal. */
	private int renewedAt;

	private long lookedNanos;

	private boolean doubted;

	PartitionLives(TopicLives topics) {
		this.topics = topics;
	}

	/**
	 * Begins new assignments.
	 * @param partitions the partitions
	 * @param committed what the broker answered about them
	 * @return those that are to be read from their beginning, whatever the reset policy
	 */
	List<TopicPartition> begin(Collection<TopicPartition> partitions,
			Map<TopicPartition, OffsetAndMetadata> committed) {
		Set<TopicPartition> uncommitted = new HashSet<>(partitions);
		uncommitted.removeIf((partition) -> !committed.containsKey(partition) || committed.get(partition) != null);
		Set<String> unsure = partitions.stream()
			.filter((partition) -> this.topics.isMissing(partition.topic())
					|| (uncommitted.contains(partition) && this.topics.isKnown(partition.topic())))
			.map(TopicPartition::topic)
			.collect(Collectors.toSet());
		this.topics.await(unsure, LIMIT);
		partitions.forEach((partition) -> this.lives.put(partition, this.topics.life(partition.topic())));
		this.doubted = true;
		return uncommitted.stream().filter(this.topics::isNew).toList();
	}

	/** Ends assignments. */
	void end(Collection<TopicPartition> partitions) {
		this.lives.keySet().removeAll(partitions);
		this.begunAnew.removeAll(partitions);
	}

	/** Looks at the topics if it is time, without waiting. */
	void lookIfDue(long now) {
		long since = now - this.lookedNanos;
		if (!this.doubted && since < MISSING_LOOK_NANOS) {
			return;
		}
		Set<String> names = topicsOf(this.lives.keySet());
		boolean due = since >= LOOK_NANOS || names.stream().anyMatch(this.topics::isMissing);
		if (due) {
			this.begunAnew.clear();
		}
		if (due || this.doubted) {
			this.doubted = false;
			this.lookedNanos = now;
			this.topics.ask(names);
		}
	}

	/** Something happened that may mean a new life of a topic: look soon. */
	void doubt() {
		this.doubted = true;
	}

	/** The client went back to the first offset of a log. */
	void begunAnew(TopicPartition partition) {
		this.begunAnew.add(partition);
		this.doubted = true;
	}

	/**
	 * Takes over the lives that the topics are in now.
	 * @return partitions that still work on an earlier one
	 */
	List<TopicPartition> renew() {
		int changes = this.topics.changes();
		if (changes == this.renewedAt) {
			return List.of();
		}
		this.renewedAt = changes;
		List<TopicPartition> stale = new ArrayList<>();
		this.lives.replaceAll((partition, life) -> {
			int current = this.topics.life(partition.topic());
			if (current != life && !this.begunAnew.remove(partition)) {
				stale.add(partition);
			}
			return current;
		});
		return stale;
	}

	/** What of a commit does not speak of an earlier life, or of a missing topic. */
	Map<TopicPartition, OffsetAndMetadata> current(Map<TopicPartition, OffsetAndMetadata> commit) {
		Map<TopicPartition, OffsetAndMetadata> current = new HashMap<>(commit);
		current.keySet()
			.removeIf((partition) -> this.topics.isMissing(partition.topic())
					|| this.topics.life(partition.topic()) != this.lives.getOrDefault(partition, 0));
		return current;
	}

	/** The same, having asked the broker. */
	Map<TopicPartition, OffsetAndMetadata> confirmed(Map<TopicPartition, OffsetAndMetadata> commit) {
		this.topics.await(topicsOf(commit.keySet()), LIMIT);
		return current(commit);
	}

	private static Set<String> topicsOf(Collection<TopicPartition> partitions) {
		return partitions.stream().map(TopicPartition::topic).collect(Collectors.toSet());
	}

}
