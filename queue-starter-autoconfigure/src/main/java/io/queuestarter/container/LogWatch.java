package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the broker where the logs of queues begin and end, and how long their records are
 * kept. A consumer knows this only of partitions that it fetches, which leaves out those
 * that are paused. <em>Thread-safe.</em>
 */
public final class LogWatch {

	private static final Logger LOGGER = LoggerFactory.getLogger(LogWatch.class);

	private static final long TIMEOUT_SECONDS = 10;

	private final Supplier<Admin> admin;

	LogWatch(Supplier<Admin> admin) {
		this.admin = admin;
	}

	/**
	 * Looks at the logs of all partitions that queues of this process own, and tells the
	 * queues. What the broker does not answer is not known until the next look.
	 * @param queues the queues
	 */
	public void look(Collection<Queue> queues) {
		Set<TopicPartition> partitions = new HashSet<>();
		queues.forEach((queue) -> queue.partitions().forEach((view) -> partitions.add(view.partition())));
		if (partitions.isEmpty()) {
			return;
		}
		Map<TopicPartition, LogBounds> bounds = ask(this.admin.get(), partitions);
		queues.forEach((queue) -> queue.logs(bounds));
	}

	private static Map<TopicPartition, LogBounds> ask(Admin admin, Set<TopicPartition> partitions) {
		Map<TopicPartition, OffsetSpec> first = new HashMap<>();
		Map<TopicPartition, OffsetSpec> last = new HashMap<>();
		Map<String, ConfigResource> topics = new HashMap<>();
		for (TopicPartition partition : partitions) {
			first.put(partition, OffsetSpec.earliest());
			last.put(partition, OffsetSpec.latest());
			topics.put(partition.topic(), new ConfigResource(ConfigResource.Type.TOPIC, partition.topic()));
		}
		ListOffsetsOptions options = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
		ListOffsetsResult starts = admin.listOffsets(first, options);
		ListOffsetsResult ends = admin.listOffsets(last, options);
		DescribeConfigsResult configs = admin.describeConfigs(List.copyOf(topics.values()));
		Map<String, Duration> retentions = new HashMap<>();
		topics.forEach((topic, resource) -> {
			Duration retention = retention(answer(configs.values().get(resource)));
			if (retention != null) {
				retentions.put(topic, retention);
			}
		});
		Map<TopicPartition, LogBounds> bounds = new HashMap<>();
		for (TopicPartition partition : partitions) {
			ListOffsetsResult.ListOffsetsResultInfo start = answer(starts.partitionResult(partition));
			ListOffsetsResult.ListOffsetsResultInfo end = answer(ends.partitionResult(partition));
			bounds.put(partition, new LogBounds((start != null) ? start.offset() : -1,
					(end != null) ? end.offset() : -1, retentions.get(partition.topic())));
		}
		return Map.copyOf(bounds);
	}

	private static @Nullable Duration retention(@Nullable Config config) {
		String policy = value(config, TopicConfig.CLEANUP_POLICY_CONFIG);
		String millis = value(config, TopicConfig.RETENTION_MS_CONFIG);
		if (policy == null || millis == null || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE)) {
			return null;
		}
		long retention = Long.parseLong(millis);
		return (retention >= 0) ? Duration.ofMillis(retention) : null;
	}

	private static @Nullable String value(@Nullable Config config, String name) {
		ConfigEntry entry = (config != null) ? config.get(name) : null;
		return (entry != null) ? entry.value() : null;
	}

	private static <T> @Nullable T answer(@Nullable KafkaFuture<T> future) {
		if (future == null) {
			return null;
		}
		try {
			return future.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			LOGGER.debug("The broker did not say where a log begins and ends, or how long it is kept", ex);
			return null;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

}
