package io.queuestarter.retry;

import java.time.Duration;

/**
 * A step of durable retries: a topic in which failed records rest.
 *
 * @param topic name of the topic; {@code {topic}} stands for the source topic
 * @param delay time that a record rests
 * @param attempts times that a record goes through the topic, with one attempt each
 */
public record RetryTier(String topic, Duration delay, int attempts) {

	String topicFor(String source) {
		return this.topic.replace("{topic}", source);
	}

}
