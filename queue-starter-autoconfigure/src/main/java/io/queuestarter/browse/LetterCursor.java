package io.queuestarter.browse;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.kafka.common.TopicPartition;

/**
 * Where a search goes on, as text: {@code trips-dlq/0:4711,1:20}, the topic once for its
 * partitions.
 */
final class LetterCursor {

	private static final Pattern PART = Pattern.compile("(?:([a-zA-Z0-9._-]{1,249})/)?([0-9]{1,9}):([0-9]{1,18})");

	private LetterCursor() {
	}

	static String write(Map<TopicPartition, Long> positions) {
		Map<String, Map<Integer, Long>> topics = new TreeMap<>();
		positions.forEach((partition, position) -> topics.computeIfAbsent(partition.topic(), (topic) -> new TreeMap<>())
			.put(partition.partition(), position));
		StringBuilder text = new StringBuilder();
		topics.forEach((topic, partitions) -> {
			text.append(text.isEmpty() ? "" : ",").append(topic).append('/');
			String separator = "";
			for (Map.Entry<Integer, Long> position : partitions.entrySet()) {
				text.append(separator).append(position.getKey()).append(':').append(position.getValue());
				separator = ",";
			}
		});
		return text.toString();
	}

	/**
	 * Positions by partition.
	 * @throws InvalidParameterException if the text is none of ours, or of other topics
	 */
	static Map<TopicPartition, Long> read(String text, Set<String> topics) {
		Map<TopicPartition, Long> positions = new HashMap<>();
		String topic = null;
		for (String part : text.trim().split(",", -1)) {
			Matcher matcher = PART.matcher(part);
			if (!matcher.matches()) {
				throw refusal(text, topics);
			}
			topic = (matcher.group(1) != null) ? matcher.group(1) : topic;
			if (topic == null || !topics.contains(topic)) {
				throw refusal(text, topics);
			}
			positions.put(new TopicPartition(topic, Integer.parseInt(matcher.group(2))),
					Long.parseLong(matcher.group(3)));
		}
		return positions;
	}

	private static InvalidParameterException refusal(String text, Set<String> topics) {
		return new InvalidParameterException("cursor", text,
				"the 'nextCursor' of an answer about " + String.join(" and ", new TreeSet<>(topics)));
	}

}
