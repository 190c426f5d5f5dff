package io.queuestarter.deadletter;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.StringUtils;

import io.queuestarter.QueueException;

/**
 * Looks up and creates topics for failed records with an admin client.
 * <em>Thread-safe.</em>
 */
public final class AdminDeadLetterTopics implements DeadLetterTopics {

	private static final Logger LOGGER = LoggerFactory.getLogger(AdminDeadLetterTopics.class);

	private static final long TIMEOUT_SECONDS = 10;

	/** What a dead letter may be larger than its record, in bytes. */
	private static final long HEADERS_BYTES = 64 * 1024;

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
	public void ensure(String source, String topic, Destination.Kind kind) throws Exception {
		try (Admin admin = Admin.create(this.properties)) {
			Optional<TopicDescription> existing = describe(admin, topic);
			if (existing.isPresent()) {
				warnIfDenied(existing.get(), kind);
				return;
			}
			int partitions = describe(admin, source).map((found) -> found.partitions().size()).orElse(1);
			String advice = "Create it with " + partitions + " partitions (kafka-topics.sh --create --topic " + topic
					+ " --partitions " + partitions + "), name another with " + kind.alternative + ".";
			if (!this.create) {
				throw new QueueException(named(topic, kind) + " does not exist. " + advice, null);
			}
			NewTopic created = new NewTopic(topic, Optional.of(partitions), Optional.empty());
			Map<String, String> configs = new HashMap<>(configs(admin, source, kind));
			configs.put(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
			create(admin, created.configs(configs), kind, advice);
		}
	}

	private static String named(String topic, Destination.Kind kind) {
		return StringUtils.capitalize(kind.text) + " '" + topic + "'";
	}

	/**
	 * What the source topic says of the size of its records, with room for our headers. A
	 * topic that says nothing has the broker's limit, and so has the new one.
	 */
	private static Map<String, String> configs(Admin admin, String source, Destination.Kind kind)
			throws InterruptedException {
		ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, source);
		try {
			Config config = admin.describeConfigs(List.of(resource))
				.all()
				.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
				.get(resource);
			ConfigEntry size = (config != null) ? config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG) : null;
			if (size == null || size.value() == null || size.source() != ConfigSource.DYNAMIC_TOPIC_CONFIG) {
				return Map.of();
			}
			long bytes = Math.min(Long.parseLong(size.value()) + HEADERS_BYTES, Integer.MAX_VALUE);
			return Map.of(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Long.toString(bytes));
		}
		catch (ExecutionException | TimeoutException ex) {
			LOGGER.warn("max.message.bytes of topic '{}' could not be looked up, its {} gets the broker's: {}", source,
					kind.text, ex.toString());
			return Map.of();
		}
	}

	@Override
	public void check(String topic, Duration delay) throws Exception {
		try (Admin admin = Admin.create(this.properties)) {
			Map<String, String> config = read(admin, topic);
			if (config.getOrDefault(TopicConfig.CLEANUP_POLICY_CONFIG, "").contains("compact")) {
				LOGGER.warn("Topic '{}' is compacted: of records with the same key it keeps the last alone, and others "
						+ "vanish without being handled; set its cleanup.policy to delete", topic);
			}
			long retention = Long.parseLong(config.getOrDefault(TopicConfig.RETENTION_MS_CONFIG, "-1"));
			if (retention >= 0 && retention <= delay.toMillis()) {
				LOGGER.warn(
						"Topic '{}' keeps records for {} (retention.ms), and they rest there for {}: they would be "
								+ "deleted before they are handled; raise its retention.ms",
						topic, Duration.ofMillis(retention), delay);
			}
		}
	}

	private static Map<String, String> read(Admin admin, String topic) throws Exception {
		ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
		Map<String, String> values = new HashMap<>();
		try {
			Config config = admin.describeConfigs(List.of(resource))
				.all()
				.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
				.get(resource);
			if (config != null) {
				config.entries().forEach((entry) -> values.put(entry.name(), entry.value()));
			}
		}
		catch (ExecutionException ex) {
			LOGGER.debug("Settings of topic '{}' could not be looked up", topic, ex);
		}
		return values;
	}

	/** Only warns: what a broker says of rights is no proof, a write is. */
	private static void warnIfDenied(TopicDescription topic, Destination.Kind kind) {
		Set<AclOperation> operations = topic.authorizedOperations();
		if (operations != null && !operations.isEmpty() && !operations.contains(AclOperation.WRITE)) {
			LOGGER.warn("{} may not be written by this application, records that fail will be held; grant it WRITE on "
					+ "the topic", named(topic.name(), kind));
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

	private static void create(Admin admin, NewTopic topic, Destination.Kind kind, String advice) throws Exception {
		try {
			admin.createTopics(List.of(topic)).all().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
			LOGGER.info("Created {} '{}' with {} partitions", kind.text, topic.name(), topic.numPartitions());
		}
		catch (ExecutionException ex) {
			if (!(ex.getCause() instanceof TopicExistsException)) {
				throw new QueueException(named(topic.name(), kind) + " does not exist and could not be created: "
						+ ex.getCause() + ". " + advice, ex);
			}
		}
	}

}
