package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;

/**
 * Deletes all records of dead-letter topics below a snapshot. What the topics cannot do,
 * or this application may not, is found out before anything is deleted.
 */
final class PrefixPurge {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final Admin admin;

	PrefixPurge(Admin admin) {
		this.admin = admin;
	}

	/**
	 * Deletes.
	 * @param resolved told of what is deleted; what was resolved above stays so
	 */
	void run(Job job, Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> begins, ResolvedLog resolved) {
		List<TopicPartition> partitions = List.copyOf(begins.keySet());
		Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(partitions));
		job.request()
			.ends()
			.forEach((partition, end) -> ends.computeIfPresent(partition, (known, now) -> Math.min(now, end)));
		job.running(Instant.now(), begins, ends);
		refuse(obstacles(this.admin, partitions));
		Map<TopicPartition, RecordsToDelete> deletions = new HashMap<>();
		ends.forEach((partition, end) -> {
			if (end > begins.getOrDefault(partition, 0L)) {
				deletions.put(partition, RecordsToDelete.beforeOffset(end));
			}
		});
		if (job.isCancelled() || deletions.isEmpty()) {
			return;
		}
		resolved.check();
		Map<TopicPartition, String> failures = delete(deletions);
		deletions.keySet().removeAll(failures.keySet());
		for (TopicPartition partition : deletions.keySet()) {
			long end = ends.getOrDefault(partition, 0L);
			resolved.of(partition).addBelow(end);
			job.purged(end - begins.getOrDefault(partition, 0L));
		}
		job.progress(ends, 0, null);
		if (!deletions.isEmpty()) {
			resolved.save();
		}
		refuse(failures);
	}

	private static void refuse(Map<TopicPartition, String> obstacles) {
		if (!obstacles.isEmpty()) {
			throw new JobFailedException("Not purged: " + new TreeMap<>(obstacles.entrySet()
				.stream()
				.collect(Collectors.toMap((entry) -> entry.getKey().toString(), Map.Entry::getValue))), null);
		}
	}

	private Map<TopicPartition, String> delete(Map<TopicPartition, RecordsToDelete> deletions) {
		Map<TopicPartition, String> failures = new HashMap<>();
		this.admin.deleteRecords(deletions).lowWatermarks().forEach((partition, future) -> {
			String failure = failure(future);
			if (failure != null) {
				failures.put(partition, failure);
			}
		});
		return failures;
	}

	private static @Nullable String failure(KafkaFuture<?> future) {
		try {
			future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
			return null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return "interrupted, may be deleted or not";
		}
		catch (ExecutionException ex) {
			return String.valueOf(ex.getCause());
		}
		catch (TimeoutException ex) {
			return "no answer within " + TIMEOUT + ", may be deleted or not";
		}
	}

	/**
	 * What keeps records from being deleted.
	 * @param admin asks the broker
	 * @param partitions the partitions
	 * @return reasons by partition, empty if there are none
	 */
	static Map<TopicPartition, String> obstacles(Admin admin, List<TopicPartition> partitions) {
		Map<TopicPartition, String> obstacles = new HashMap<>();
		Set<String> topics = partitions.stream().map(TopicPartition::topic).collect(Collectors.toSet());
		for (String topic : topics) {
			String obstacle = obstacle(admin, topic);
			if (obstacle != null) {
				partitions.stream()
					.filter((partition) -> partition.topic().equals(topic))
					.forEach((partition) -> obstacles.put(partition, obstacle));
			}
		}
		return obstacles;
	}

	private static @Nullable String obstacle(Admin admin, String topic) {
		ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
		try {
			Config config = admin.describeConfigs(Set.of(resource))
				.all()
				.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
				.get(resource);
			String policy = (config != null) ? config.get(TopicConfig.CLEANUP_POLICY_CONFIG).value() : "";
			if (policy == null || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE)) {
				return "cleanup.policy is '" + policy + "', of which Kafka deletes no records; add 'delete' to it, or "
						+ "purge with a filter, which marks records as resolved";
			}
			TopicDescription description = admin
				.describeTopics(Set.of(topic), new DescribeTopicsOptions().includeAuthorizedOperations(true))
				.allTopicNames()
				.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
				.get(topic);
			Set<AclOperation> operations = (description != null) ? description.authorizedOperations() : null;
			if (operations != null && !operations.isEmpty() && !operations.contains(AclOperation.DELETE)) {
				return "this application has no right to delete records; grant it DELETE on the topic, or purge with a "
						+ "filter, which marks records as resolved";
			}
			return null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return "interrupted";
		}
		catch (ExecutionException | TimeoutException ex) {
			return "topic could not be looked up: " + ((ex.getCause() != null) ? ex.getCause() : ex);
		}
	}

}
