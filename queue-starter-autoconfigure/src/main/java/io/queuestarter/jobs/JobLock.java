package io.queuestarter.jobs;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that one job at a time works on a dead-letter topic, whatever instance runs
 * it: the job is a member of the group that remembers what is resolved, and only the
 * member that all partitions are assigned to works. <em>Job thread only</em>, except
 * {@link #owner}.
 */
final class JobLock implements ConsumerRebalanceListener {

	/** Time after which a process that died has left the group. */
	static final Duration SESSION = Duration.ofSeconds(10);

	/** Stands for a job where there is only a member for a moment. */
	static final String KEEPER = "keeper";

	private static final String CLIENT_ID_PREFIX = "queue-job-";

	private final Set<TopicPartition> owned = new HashSet<>();

	private final Collection<String> topics;

	private boolean decided;

	private boolean lost;

	/**
	 * Creates a lock.
	 * @param topics those that must be this job's alone; others may come and go
	 */
	JobLock(Collection<String> topics) {
		this.topics = Set.copyOf(topics);
	}

	/**
	 * What a member subscribes to: its topics, and all others that the group has offsets
	 * of. Kafka deletes a group's offsets that have not changed for a week of topics that
	 * no member subscribes to, as soon as there is a member.
	 */
	static Set<String> subscription(ClusterLook cluster, String group, Collection<String> topics) {
		Set<String> all = new HashSet<>(cluster.readable(cluster.committed(group)));
		all.addAll(topics);
		return all;
	}

	/** Settings of the consumer of a job. */
	static Map<String, Object> settings(String group, String job, String instance, long startMillis) {
		Map<String, Object> settings = new HashMap<>();
		settings.put(ConsumerConfig.GROUP_ID_CONFIG, group);
		settings.put(ConsumerConfig.CLIENT_ID_CONFIG, CLIENT_ID_PREFIX + job + "@" + instance);
		settings.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
		settings.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, OldestJobAssignor.class.getName());
		settings.put(OldestJobAssignor.JOB, String.format("%016d %s", startMillis, job));
		settings.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, (int) SESSION.toMillis());
		settings.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 1_000);
		settings.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 60_000);
		settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 2_000);
		settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
		return settings;
	}

	@Override
	public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
		this.decided = true;
		this.owned.addAll(partitions);
	}

	@Override
	public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
		this.lost |= this.decided
				&& partitions.stream().anyMatch((partition) -> this.topics.contains(partition.topic()));
		this.owned.removeAll(partitions);
	}

	/** Whether the group has told which partitions are this job's. */
	boolean isDecided() {
		return this.decided;
	}

	/**
	 * Whether all of these partitions are this job's, and were all the time: once a
	 * partition was given up another job may have worked on it, and what this one knows
	 * of it is of the past, also if it gets it back.
	 */
	boolean owns(Collection<TopicPartition> partitions) {
		return !this.lost && this.owned.containsAll(partitions);
	}

	/**
	 * Who works on the dead letters of a group.
	 * @param cluster asks the broker
	 * @param group the group that remembers what is resolved
	 * @param except id of a job that does not count, or {@code null}
	 * @return who, or {@code null} if nobody
	 */
	static @Nullable Owner owner(ClusterLook cluster, String group, @Nullable String except) {
		return cluster.members(group)
			.stream()
			.map(Owner::of)
			.filter((owner) -> !owner.job().equals(except))
			.findFirst()
			.orElse(null);
	}

	/**
	 * A job that runs.
	 *
	 * @param job its id
	 * @param instance process that runs it
	 * @param host host that the broker sees
	 */
	record Owner(String job, String instance, String host) {

		/** Whether it goes by itself within seconds. */
		boolean isKeeper() {
			return this.job.equals(KEEPER);
		}

		private static Owner of(MemberDescription member) {
			String client = member.clientId();
			int at = client.indexOf('@');
			if (!client.startsWith(CLIENT_ID_PREFIX) || at < 0) {
				return new Owner("?", client, member.host());
			}
			return new Owner(client.substring(CLIENT_ID_PREFIX.length(), at), client.substring(at + 1), member.host());
		}

	}

}
