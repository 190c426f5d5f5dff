package io.queuestarter.container;

import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.QueueListener;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A pattern that matches the queue's own dead-letter topic would consume its dead
 * letters, whose dead-letter topic it would match again, and so on.
 */
class PatternTests {

	@Test
	void patternThatMatchesItsOwnDeadLetterTopicStopsTheQueueBeforeTheTopicExists() {
		String topic = Broker.newTopic("patterned", 1);
		Broker.sendNumbers(topic, 1, 3);

		try (QueueApp app = QueueApp.of(Greedy.class).with("pattern", topic + ".*").start()) {
			QueueApp.eventually().until(() -> app.queue("greedy").state() == QueueState.FAILED);

			assertThat(app.queue("greedy").failure()).hasMessageContaining("matches '" + topic + "-dlq'")
				.hasMessageContaining("Exclude it from the pattern");
			assertThat(Broker.partitionsOf(topic + "-dlq")).isZero();

			MessageListenerContainer container = Objects
				.requireNonNull(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer("greedy"));
			QueueApp.eventually().until(() -> !container.isRunning() && !container.isChildRunning());
			container.start();
			QueueApp.eventually().until(() -> app.queue("greedy").failure() != null);

			assertThat(Broker.partitionsOf(topic + "-dlq")).isZero();
		}
	}

	@Test
	void patternThatMatchesWhereItsForeignRecordsGoStopsTheQueue() {
		String topic = Broker.newTopic("forwarding", 1);

		try (QueueApp app = QueueApp.of(Greedy.class)
			.with("pattern", topic + "(-foreign)?")
			.with("kafka-queue.listeners.greedy.lanes.header", "tenancy")
			.with("kafka-queue.listeners.greedy.lanes.on-foreign", "forward")
			.with("kafka-queue.listeners.greedy.lanes.forward-topic", "{topic}-foreign")
			.start()) {
			QueueApp.eventually().until(() -> app.queue("greedy").state() == QueueState.FAILED);

			assertThat(app.queue("greedy").failure()).hasMessageContaining("matches '" + topic + "-foreign'");
		}
	}

	@Test
	void eachInstanceKnowsTheDeadLetterTopicsOfAllTopicsThatMatch() {
		String first = Broker.newTopic("matched", 1);
		String second = Broker.newTopic("matched", 1);
		Set<String> expected = Set.of(first + "-dlq", second + "-dlq");
		QueueApp.Builder app = QueueApp.of(Matching.class).with("pattern", first + "|" + second).with("group", first);

		try (QueueApp one = app.start(); QueueApp other = app.start()) {
			QueueApp.eventually()
				.until(() -> Stream.of(one, other)
					.allMatch((instance) -> instance.queue("matching").partitions().size() == 1));

			assertThat(one.queue("matching").deadLetterTopics()).isEqualTo(expected);
			assertThat(other.queue("matching").deadLetterTopics()).isEqualTo(expected);
		}
	}

	static class Matching {

		@QueueListener(id = "matching", topicPattern = "${pattern}", groupId = "${group}")
		void handle(String value) {
		}

	}

	static class Greedy {

		@QueueListener(id = "greedy", topicPattern = "${pattern}", groupId = "greedy")
		void handle(String value) {
		}

	}

}
