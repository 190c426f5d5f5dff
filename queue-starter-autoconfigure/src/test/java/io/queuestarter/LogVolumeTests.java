package io.queuestarter;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.LogLines;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * However many records fail, the log says so in a handful of lines.
 */
@Tag("threads")
class LogVolumeTests {

	@Test
	void X57_thousandFailuresThatAreTriedAgainLogNothing() {
		String topic = Broker.newTopic("log-retries", 1);

		try (QueueApp app = QueueApp.of(Failing.class).with("topic", topic).with("attempts", "1").start();
				LogLines lines = LogLines.of("ROOT", Level.INFO)) {
			Broker.sendNumbers(topic, 1, 1000);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 1000);

			assertThat(app.queue("failing").outcomes().retriedCount()).isEqualTo(1000);
			assertThat(lines.textsFrom(Level.WARN)).isEmpty();
			assertThat(lines.textsFrom(Level.INFO)).filteredOn((line) -> line.contains(" io.queuestarter."))
				.hasSizeLessThan(5);
		}
	}

	@Test
	void X57_thousandDeadLettersLogAHandfulOfLines() {
		String topic = Broker.newTopic("log-letters", 1);

		try (QueueApp app = QueueApp.of(Failing.class).with("topic", topic).with("attempts", "3").start();
				LogLines lines = LogLines.of("ROOT", Level.INFO)) {
			Broker.sendNumbers(topic, 1, 1000);
			QueueApp.eventually().until(() -> Broker.committedOffset(topic, topic, 0) == 1000);

			assertThat(app.queue("failing").deadLettered()).isEqualTo(1000);
			assertThat(lines.textsFrom(Level.WARN)).hasSizeBetween(1, 4)
				.allSatisfy((line) -> assertThat(line).contains("moved to '" + topic + "-dlq' after 3 attempts"));
			assertThat(lines.stacks(Level.WARN)).isZero();
		}
	}

	static class Failing {

		@Value("${attempts}")
		int attempts;

		@QueueListener(id = "failing", topics = "${topic}", groupId = "${topic}")
		void handle(String value, QueueContext context) {
			if (context.attempt() <= this.attempts) {
				throw new IllegalStateException("down");
			}
		}

	}

}
