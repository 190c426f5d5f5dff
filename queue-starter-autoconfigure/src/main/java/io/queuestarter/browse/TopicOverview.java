package io.queuestarter.browse;

import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A dead-letter topic in short.
 *
 * @param topic the topic
 * @param partitions number of its partitions, 0 if it does not exist
 * @param depth dead letters that are not resolved
 * @param oldest timestamp of the first of them
 * @param newest timestamp of the last of them
 * @param byException how many of the sample ended with which exception
 * @param byReason how many of the sample are there for which reason
 * @param sample dead letters that were counted for it, none of them resolved
 */
public record TopicOverview(String topic, int partitions, long depth, @Nullable Instant oldest,
		@Nullable Instant newest, Map<String, Long> byException, Map<String, Long> byReason, long sample) {

}
