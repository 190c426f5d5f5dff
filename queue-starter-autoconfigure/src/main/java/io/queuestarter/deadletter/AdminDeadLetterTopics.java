package io.queuestarter.deadletter;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;

/**
 * Looks up and creates dead-letter topics with an admin client. <em>Thread-safe.</em>
 */
public final class AdminDeadLetterTopics implements DeadLetterTopics {

	private static final Logger LOGGER = LoggerFactory.getLogger(AdminDeadLetterTopics.class);

	private static final long TIMEOUT_SECONDS = 10;

	private final Map<String, Object> properties;

	private final boolean create;

	/**
	 * Creates a look-up.
	 * @param properties how the admin client connects
	 * @param create whether a missing topic is created
	 */
	public AdminDeadLetterTopics(Map<String, Object> properties, boolean create) {
		this.properties = properties;
		this.create = create;
	}

	@Override
	public void ensure(String source, String deadLetterTopic) throws Exception {
		try (Admin admin = Admin.create(this.properties)) {
			Optional<TopicDescription> existing = describe(admin, deadLetterTopic);
			if (existing.isPresent()) {
				warnIfDenied(existing.get());
				return;
			}
			int partitions = describe(admin, source).map((topic) -> topic.partitions().size()).orElse(1);
			String advice = "Create it with " + partitions + " partitions (kafka-topics.sh --create --topic "
					+ deadLetterTopic + " --partitions " + partitions + "), name another, or set dlq.enabled=false.";
			if (!this.create) {
				throw new QueueException("Dead-letter topic '" + deadLetterTopic + "' does not exist. " + advice, null);
			}
			create(admin, new NewTopic(deadLetterTopic, Optional.of(partitions), Optional.empty()), advice);
		}
	}

	/** Only warns: what a broker says of rights is no proof, a write is. */
	private static void warnIfDenied(TopicDescription topic) {
		Set<AclOperation> operations = topic.authorizedOperations();
		if (operations != null && !operations.isEmpty() && !operations.contains(AclOperation.WRITE)) {
			LOGGER.warn("Dead-letter topic '{}' may not be written by this application, records that fail will be "
					+ "held; grant it WRITE on the topic", topic.name());
		}
	}

	private static Optional<TopicDescription> describe(Admin admin, String topic) throws Exception {
		try {
			DescribeTopicsOptions options = new DescribeTopicsOptions().includeAuthorizedOperations(true);
			return Optional.ofNullable(admin.describeTopics(List.of(topic), options)
				.allTopicNames()
				.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
				.get(topic));
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
				return Optional.empty();
			}
			throw new QueueException("Topic '" + topic + "' could not be looked up: " + ex.getCause(), ex);
		}
	}

	private static void create(Admin admin, NewTopic topic, String advice) throws Exception {
		try {
			admin.createTopics(List.of(topic)).all().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
			LOGGER.info("Created dead-letter topic '{}' with {} partitions", topic.name(), topic.numPartitions());
		}
		catch (ExecutionException ex) {
			if (!(ex.getCause() instanceof TopicExistsException)) {
				throw new QueueException("Dead-letter topic '" + topic.name()
						+ "' does not exist and could not be created: " + ex.getCause() + ". " + advice, ex);
			}
		}
	}

}
