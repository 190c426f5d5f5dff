package io.queuestarter.jobs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;

/**
 * Asks the broker what jobs must know of topics and groups. Each question takes ten
 * seconds at most; one that is not answered ends with a {@link QueueException} that names
 * it. <em>Thread-safe.</em>
 */
final class ClusterLook {

	private static final long TIMEOUT_SECONDS = 10;

	private final Admin admin;

	ClusterLook(Admin admin) {
		this.admin = admin;
	}

	/** Whether there is a topic of a name. */
	boolean exists(String topic) {
		return id(topic) != null;
	}

	/**
	 * What tells a topic from one that bears its name later, or null if there is none.
	 */
	@Nullable Uuid id(String topic) {
		TopicDescription description = find("Topic '" + topic + "'",
				only(this.admin.describeTopics(Set.of(topic)).topicNameValues()));
		return (description != null) ? description.topicId() : null;
	}

	/** Partitions of those topics that exist. */
	List<TopicPartition> partitions(Collection<String> topics) {
		List<TopicPartition> partitions = new ArrayList<>();
		this.admin.describeTopics(topics).topicNameValues().forEach((topic, answer) -> {
			TopicDescription description = find("Topic '" + topic + "'", answer);
			if (description != null) {
				description.partitions()
					.forEach((partition) -> partitions.add(new TopicPartition(topic, partition.partition())));
			}
		});
		return partitions;
	}

	/** Those topics that exist and that this application may read. */
	Set<String> readable(Collection<String> topics) {
		Set<String> readable = new HashSet<>();
		DescribeTopicsOptions options = new DescribeTopicsOptions().includeAuthorizedOperations(true);
		this.admin.describeTopics(topics, options).topicNameValues().forEach((topic, answer) -> {
			try {
				TopicDescription description = find("Topic '" + topic + "'", answer);
				if (description != null && isAllowed(description, AclOperation.READ)) {
					readable.add(topic);
				}
			}
			catch (QueueException ex) {
				if (!(ex.getCause() instanceof ExecutionException failed)
						|| !(failed.getCause() instanceof AuthorizationException)) {
					throw ex;
				}
			}
		});
		return readable;
	}

	/** Brokers that guard nothing do not say. */
	private static boolean isAllowed(TopicDescription topic, AclOperation operation) {
		Set<AclOperation> allowed = topic.authorizedOperations();
		return allowed == null || allowed.isEmpty() || allowed.contains(operation);
	}

	/** Offsets behind the last records of partitions. */
	Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
		Map<TopicPartition, Long> ends = new HashMap<>();
		get("The ends of " + partitions,
				this.admin
					.listOffsets(
							partitions.stream().collect(Collectors.toMap((key) -> key, (key) -> OffsetSpec.latest())))
					.all())
			.forEach((partition, end) -> ends.put(partition, end.offset()));
		return ends;
	}

	/** Members of a group, none if there is no such group. */
	Collection<MemberDescription> members(String group) {
		Map<String, ConsumerGroupDescription> found = find("Group '" + group + "'",
				this.admin.describeConsumerGroups(Set.of(group)).all());
		return (found != null) ? found.values().iterator().next().members() : List.of();
	}

	/** Topics of which a group has committed offsets. */
	Set<String> committed(String group) {
		return get("The offsets of group '" + group + "'",
				this.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
			.keySet()
			.stream()
			.map(TopicPartition::topic)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/** What keeps records of a topic from being deleted, or null. */
	@Nullable String undeletable(String topic) {
		ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
		Config config = get("Topic '" + topic + "'", only(this.admin.describeConfigs(Set.of(resource)).values()));
		String policy = config.get(TopicConfig.CLEANUP_POLICY_CONFIG).value();
		if (policy == null || !policy.contains(TopicConfig.CLEANUP_POLICY_DELETE)) {
			return "cleanup.policy is '" + policy + "', of which Kafka deletes no records; add 'delete' to it, or "
					+ "purge with a filter, which marks records as resolved";
		}
		DescribeTopicsOptions options = new DescribeTopicsOptions().includeAuthorizedOperations(true);
		if (!isAllowed(
				get("Topic '" + topic + "'", only(this.admin.describeTopics(Set.of(topic), options).topicNameValues())),
				AclOperation.DELETE)) {
			return "this application has no right to delete records; grant it DELETE on the topic, or purge with a "
					+ "filter, which marks records as resolved";
		}
		return null;
	}

	private static <T> KafkaFuture<T> only(Map<?, KafkaFuture<T>> answers) {
		return answers.values().iterator().next();
	}

	private static <T> T get(String subject, KafkaFuture<T> answer) {
		T found = find(subject, answer);
		if (found == null) {
			throw new QueueException(subject + " could not be looked up: there is none", null);
		}
		return found;
	}

	/** The answer, or null if there is no such topic or group. */
	private static <T> @Nullable T find(String subject, KafkaFuture<T> answer) {
		try {
			return answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new QueueException("Interrupted while it was looked up: " + subject, ex);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof UnknownTopicOrPartitionException
					|| ex.getCause() instanceof GroupIdNotFoundException) {
				return null;
			}
			throw new QueueException(subject + " could not be looked up: " + ex.getCause(), ex);
		}
		catch (TimeoutException ex) {
			throw new QueueException(subject + " could not be looked up within " + TIMEOUT_SECONDS + " s", ex);
		}
	}

}
