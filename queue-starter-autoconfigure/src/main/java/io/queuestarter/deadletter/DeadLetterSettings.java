package io.queuestarter.deadletter;

import java.time.Duration;

/**
 * How one queue writes its dead letters.
 *
 * @param listener id of the queue
 * @param group its consumer group
 * @param topic name of the dead-letter topic; {@code {topic}} stands for the source topic
 * @param firstPause pause after a first failed write, doubled with each further one
 * @param maxPause longest pause after a failed write
 */
public record DeadLetterSettings(String listener, String group, String topic, Duration firstPause, Duration maxPause) {

	String topicFor(String source) {
		return this.topic.replace("{topic}", source);
	}

	Duration pauseAfter(int failures) {
		Duration pause = this.firstPause.multipliedBy(1L << Math.min(failures - 1, 20));
		return (pause.compareTo(this.maxPause) < 0) ? pause : this.maxPause;
	}

}
