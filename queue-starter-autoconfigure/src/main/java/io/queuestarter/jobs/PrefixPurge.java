package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

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
		Map<TopicPartition, Long> ends = job.request().bounds(begins, consumer.endOffsets(partitions));
		job.running(Instant.now(), begins, ends);
		refuse(obstacles(partitions));
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

	/** What keeps records from being deleted, by partition; empty if nothing does. */
	Map<TopicPartition, String> obstacles(Collection<TopicPartition> partitions) {
		ClusterLook cluster = new ClusterLook(this.admin);
		Map<String, Optional<String>> topics = new HashMap<>();
		Map<TopicPartition, String> obstacles = new HashMap<>();
		for (TopicPartition partition : partitions) {
			topics.computeIfAbsent(partition.topic(), (topic) -> Optional.ofNullable(obstacle(cluster, topic)))
				.ifPresent((obstacle) -> obstacles.put(partition, obstacle));
		}
		return obstacles;
	}

	private static @Nullable String obstacle(ClusterLook cluster, String topic) {
		try {
			return cluster.undeletable(topic);
		}
		catch (QueueException ex) {
			return ex.getMessage();
		}
	}

}
