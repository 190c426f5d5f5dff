package io.queuestarter.deadletter;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import io.queuestarter.QueueException;
import io.queuestarter.deadletter.Destination.Kind;
import io.queuestarter.testkit.Broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AdminDeadLetterTopicsTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "DEAD_LETTER | Dead-letter topic | name another with dlq.topic, or set dlq.enabled=false.",
					"RETRY | Retry topic | name another with retry.topics.",
					"PARK | Park topic | name another with blocking.park-topic." })
	void missingTopicIsNamedByWhatItIsFor(Kind kind, String name, String advice) {
		String source = Broker.newTopic("named", 2);

		assertThatExceptionOfType(QueueException.class)
			.isThrownBy(() -> topics(false).ensure(source, source + "-other", kind))
			.withMessage(name + " '" + source + "-other' does not exist. Create it with 2 partitions "
					+ "(kafka-topics.sh --create --topic " + source + "-other --partitions 2), " + advice);
	}

	/*
	 * The broker refuses a name that differs from another only by point and underscore.
	 */
	@Test
	void topicThatCannotBeCreatedIsNamedByWhatItIsFor() {
		String source = Broker.newTopic("refused.name", 1);
		String topic = source.replace('.', '_');

		assertThatExceptionOfType(QueueException.class).isThrownBy(() -> topics(true).ensure(source, topic, Kind.RETRY))
			.withMessageStartingWith("Retry topic '" + topic + "' does not exist and could not be created: ");
	}

	/*
	 * The topic says so itself, so what the broker says for topics that say nothing does
	 * not matter: in a compacted one records of the same key vanish without being
	 * handled.
	 */
	@ParameterizedTest
	@EnumSource
	void createdTopicIsNotCompactedWhateverTheBrokerSays(Kind kind) throws Exception {
		String source = Broker.newTopic("policy", 1, Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, "compact"));
		String topic = source + "-other";

		topics(true).ensure(source, topic, kind);

		ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
		Config config = Objects
			.requireNonNull(Broker.await(Broker.admin().describeConfigs(List.of(resource)).all()).get(resource));
		ConfigEntry policy = config.get(TopicConfig.CLEANUP_POLICY_CONFIG);
		assertThat(policy.value()).isEqualTo("delete");
		assertThat(policy.source()).isEqualTo(ConfigSource.DYNAMIC_TOPIC_CONFIG);
	}

	private static AdminDeadLetterTopics topics(boolean create) {
		return new AdminDeadLetterTopics(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap()),
				create);
	}

}
