package io.queuestarter.jobs;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Whether the dead letters are a job's to move: that no other job works on them, and that
 * their topics are those that it began with, or that its plan was made of. <em>Job thread
 * only.</em>
 */
final class Ownership {

	private static final Duration POLL = Duration.ofMillis(50);

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final Job job;

	private final String group;

	private final ClusterLook cluster;

	private final JobLock lock;

	private final TopicIds ids;

	private final List<TopicPartition> partitions;

	/**
	 * Looks at the topics.
	 * @throws JobFailedException if none of them exists
	 */
	Ownership(Job job, String group, Collection<String> topics, ClusterLook cluster) {
		this.job = job;
		this.group = group;
		this.cluster = cluster;
		this.lock = new JobLock(topics);
		PlanEnds planned = job.request().ends();
		this.ids = new TopicIds(cluster, topics, (planned != null) ? planned.topics() : Map.of());
		this.partitions = cluster.partitions(topics);
		if (this.partitions.isEmpty()) {
			throw new JobFailedException("Queue '" + job.queue() + "' has no such dead-letter topic", null);
		}
	}

	/** Listens to what the group assigns. */
	JobLock lock() {
		return this.lock;
	}

	/** Partitions of all topics. */
	List<TopicPartition> partitions() {
		return this.partitions;
	}

	/**
	 * Waits for the job's turn; one that only keeps the group alive goes by itself.
	 * @return {@code false} if the job was cancelled before
	 */
	boolean await(Consumer<byte[], byte[]> consumer) {
		long limit = System.nanoTime() + LIMIT.toNanos();
		while (!this.lock.owns(this.partitions)) {
			if (this.job.isCancelled()) {
				return false;
			}
			if (this.lock.isDecided()) {
				JobLock.Owner owner = owner();
				if (owner != null && !owner.isKeeper()) {
					throw lost(owner);
				}
			}
			if (System.nanoTime() - limit > 0) {
				throw new JobFailedException(
						"Group '" + this.group + "' did not assign the dead-letter topics within " + LIMIT, null);
			}
			consumer.poll(POLL);
			consumer.pause(consumer.assignment());
		}
		return true;
	}

	/** Throws if the letters are not this job's any more. Does not ask the broker. */
	void check() {
		if (!this.lock.owns(this.partitions)) {
			throw lost(owner());
		}
	}

	/** The same, and asks the broker whether the topics are still those. */
	void checkAll() {
		check();
		this.ids.check();
	}

	private JobLock.@Nullable Owner owner() {
		return JobLock.owner(this.cluster, this.group, this.job.id());
	}

	private static JobFailedException lost(JobLock.@Nullable Owner owner) {
		return new JobFailedException("The dead-letter topics belong to another job"
				+ ((owner != null) ? ": " + owner.job() + " on " + owner.instance() + ", host " + owner.host() : ""),
				null);
	}

}
