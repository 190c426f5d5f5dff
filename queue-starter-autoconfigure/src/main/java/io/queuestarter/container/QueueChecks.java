package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.config.KafkaListenerEndpoint;
import org.springframework.util.StringUtils;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.container.QueueSettings.Origin;
import io.queuestarter.intake.Foreign;

/**
 * Refuses queues whose consumer is configured in a way that cannot work, before any of
 * them starts.
 */
final class QueueChecks {

	private static final Logger LOGGER = LoggerFactory.getLogger(QueueChecks.class);

	private static final int MAX_CONCURRENCY = 1000;

	private static final String DEFAULT_MAX_POLL_INTERVAL_MS = "300000";

	private final QueueDefinition definition;

	private final KafkaListenerEndpoint endpoint;

	private final Map<String, Object> application;

	private final @Nullable Properties listener;

	QueueChecks(QueueDefinition definition, KafkaListenerEndpoint endpoint, Map<String, Object> application) {
		this.definition = definition;
		this.endpoint = endpoint;
		this.application = application;
		this.listener = endpoint.getConsumerProperties();
	}

	/**
	 * The consumer group, from the queue's property, the annotation or the application.
	 */
	String group(QueueSettings settings) {
		Origin origin = settings.origins().get("group");
		// An id with dots stands in brackets.
		boolean isOwn = origin != null && origin.source().startsWith("kafka-queue.listeners");
		String annotated = this.endpoint.getGroupId();
		String group = (StringUtils.hasText(settings.group()) && (isOwn || !StringUtils.hasText(annotated)))
				? settings.group() : annotated;
		group = (group != null) ? group : property(ConsumerConfig.GROUP_ID_CONFIG);
		if (!StringUtils.hasText(group)) {
			throw new QueueConfigurationException(
					"Queue '" + id() + "' (method " + method() + ") has no consumer group.",
					"Set 'groupId' on @QueueListener, kafka-queue.listeners." + id()
							+ ".group or spring.kafka.consumer.group-id.");
		}
		return group;
	}

	/** What the queue subscribes to: topics, or one pattern. */
	List<String> subscription() {
		Collection<String> topics = this.endpoint.getTopics();
		if (topics != null && !topics.isEmpty()) {
			return List.copyOf(topics);
		}
		return (this.endpoint.getTopicPattern() != null) ? List.of(this.endpoint.getTopicPattern().pattern())
				: List.of();
	}

	void consumer(QueueSettings settings) {
		refuseAutoCommit();
		refuseLongDrain(settings);
		refuseConcurrency();
		if ("latest".equals(property(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG))) {
			LOGGER.warn("Queue '{}' has auto.offset.reset=latest: records sent before its group first commits, or "
					+ "after its offsets expired, are skipped; earliest is the default of queues", id());
		}
	}

	/** A queue must not read its own dead letters: each would come round again. */
	void deadLetters(QueueSettings settings, List<String> subscription) {
		List<QueueSettings> writing = new ArrayList<>(settings.lanes().settings(settings).values());
		if (settings.lanes().foreign() == Foreign.DEAD_LETTER) {
			writing.add(settings);
		}
		for (QueueSettings lane : writing) {
			if (lane.deadLetters().enabled()) {
				refuseReading(lane.deadLetters().topic(), subscription, "its dead letters go", "dlq.topic");
			}
		}
		String forward = settings.lanes().forwardTopic();
		for (String lane : settings.lanes().rules().lanes()) {
			if (forward != null) {
				refuseReading(forward.replace("{lane}", lane), subscription, "records of lane '" + lane + "' go",
						"lanes.forward-topic");
			}
		}
	}

	private void refuseReading(String topic, List<String> subscription, String what, String key) {
		Pattern pattern = this.endpoint.getTopicPattern();
		// What stands for a source topic is not known yet if there is a pattern.
		boolean matched = pattern != null && !topic.contains("{topic}") && pattern.matcher(topic).matches();
		for (String source : subscription) {
			String written = topic.replace("{topic}", source);
			if (matched || subscription.contains(written)) {
				throw new QueueConfigurationException(
						"Queue '" + id() + "' (method " + method() + ") consumes '" + written + "', which is where "
								+ what + ".",
						"Give it another " + key + ", or remove the topic from what it consumes.");
			}
		}
	}

	/** Topics that the queue writes for itself must be its own. */
	void ownTopics(QueueSettings settings, List<String> subscription) {
		QueueSettings.Retry retry = settings.retry();
		if (!retry.hasTopics()) {
			return;
		}
		if (this.endpoint.getTopicPattern() != null) {
			throw new QueueConfigurationException(
					"Queue '" + id() + "' (method " + method() + ") consumes the pattern '"
							+ this.endpoint.getTopicPattern() + "' and has retry.topics or blocking.action=park, whose "
							+ "topics can only be told for topics that are known by name.",
					"List the topics in 'topics', or remove the setting.");
		}
		Set<String> names = new HashSet<>(subscription);
		int own = (retry.tiers().size() + ((retry.parkTopic() != null) ? 1 : 0)) * subscription().size();
		if (names.size() < subscription.size() || subscription.size() < subscription().size() + own) {
			throw new QueueConfigurationException(
					"Queue '" + id() + "' (method " + method() + ") has the topics " + subscription
							+ ": a retry or park topic has the name of another.",
					"Give each a name of its own; {topic} in it stands for the source topic.");
		}
	}

	/** Two queues may share a group, but not a topic of it, nor one of dead letters. */
	void sharing(Queue queue, Collection<Queue> others) {
		String group = queue.group();
		for (Queue other : others) {
			if (!other.group().equals(group)) {
				continue;
			}
			List<String> common = new ArrayList<>(queue.subscription());
			common.retainAll(other.subscription());
			if (!common.isEmpty()) {
				throw new QueueConfigurationException(
						"Queues '" + other.id() + "' and '" + id() + "' (method " + method() + ") both consume "
								+ common + " in group '" + group + "'; each would get a part of the records.",
						"Give one of them another 'groupId', or remove it; 'concurrency' adds consumers to a queue.");
			}
			List<String> letters = new ArrayList<>(queue.deadLetterTopics());
			letters.retainAll(other.deadLetterTopics());
			if (!letters.isEmpty()) {
				throw new QueueConfigurationException(
						"Queues '" + other.id() + "' and '" + id() + "' (method " + method()
								+ ") both write dead letters to " + letters + " in group '" + group
								+ "'; what is merged or purged of the one would count " + "for the other.",
						"Give one of them another 'groupId', or another dlq.topic.");
			}
			LOGGER.warn("Queues '{}' and '{}' share the group '{}': each start or stop of one rebalances the other; "
					+ "give each a groupId of its own", other.id(), id(), group);
		}
	}

	private void refuseAutoCommit() {
		String name = ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG;
		if (Boolean.parseBoolean(property(name))) {
			String origin = (own(name) != null) ? "'properties' of @QueueListener on " + method()
					: "The consumer factory (spring.kafka.consumer.enable-auto-commit)";
			throw new QueueConfigurationException(
					origin + " sets " + name + " to true; the broker would forget records of queue '" + id()
							+ "' that are not handled.",
					"Remove it. The ledger commits for you every kafka-queue.defaults.ledger.commit-interval.");
		}
	}

	private void refuseLongDrain(QueueSettings settings) {
		String name = ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG;
		String configured = property(name);
		Duration interval = Duration
			.ofMillis(Long.parseLong((configured != null) ? configured : DEFAULT_MAX_POLL_INTERVAL_MS));
		if (settings.drainTimeout().compareTo(interval) >= 0) {
			throw new QueueConfigurationException(
					"shutdown.drain-timeout of queue '" + id() + "' is " + settings.drainTimeout() + " and reaches "
							+ name + " of " + interval
							+ "; the broker would give its partitions away while they are drained.",
					"Lower the former or raise the latter.");
		}
	}

	private void refuseConcurrency() {
		Integer concurrency = this.endpoint.getConcurrency();
		if (concurrency != null && (concurrency < 1 || concurrency > MAX_CONCURRENCY)) {
			throw new QueueConfigurationException(
					"'concurrency' of @QueueListener on " + method() + " is " + concurrency
							+ ", which is not between 1 and " + MAX_CONCURRENCY + ".",
					"It is the number of Kafka consumers, usually 1; 'maxInFlight' says how many records run at one "
							+ "time.");
		}
	}

	private @Nullable String property(String name) {
		String own = own(name);
		Object inherited = this.application.get(name);
		return (own != null || inherited == null) ? own : inherited.toString();
	}

	private @Nullable String own(String name) {
		return (this.listener != null) ? this.listener.getProperty(name) : null;
	}

	private String id() {
		return this.definition.id();
	}

	private String method() {
		return this.definition.methodName();
	}

}
