package io.queuestarter.browse;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Offsets that somebody named: {@code 0@88,0@90-120}, each a partition and an offset or
 * range, if need be with the topic in front: {@code trips-dlq-0@88}. Immutable.
 */
final class LetterOffsets {

	private static final Pattern PART = Pattern
		.compile("(?:([a-zA-Z0-9._-]{1,249})-)?([0-9]{1,9})@([0-9]{1,18})(?:-([0-9]{1,18}))?");

	private final List<Span> spans;

	private LetterOffsets(List<Span> spans) {
		this.spans = spans;
	}

	/** Null if the text is not of this form. */
	static @Nullable LetterOffsets parse(String text) {
		List<Span> spans = new ArrayList<>();
		for (String part : text.split(",", -1)) {
			Matcher matcher = PART.matcher(part.trim());
			if (!matcher.matches()) {
				return null;
			}
			long first = Long.parseLong(matcher.group(3));
			long last = (matcher.group(4) != null) ? Long.parseLong(matcher.group(4)) : first;
			if (last < first) {
				return null;
			}
			spans.add(new Span(matcher.group(1), Integer.parseInt(matcher.group(2)), first, last));
		}
		return new LetterOffsets(List.copyOf(spans));
	}

	boolean contains(TopicPartition partition, long offset) {
		for (Span span : this.spans) {
			if (offset >= span.first && offset <= span.last && span.isOf(partition)) {
				return true;
			}
		}
		return false;
	}

	/** Lowest offset named of a partition, if one is. */
	OptionalLong lowest(TopicPartition partition) {
		return this.spans.stream().filter((span) -> span.isOf(partition)).mapToLong(Span::first).min();
	}

	/** Highest offset named of a partition, if one is. */
	OptionalLong highest(TopicPartition partition) {
		return this.spans.stream().filter((span) -> span.isOf(partition)).mapToLong(Span::last).max();
	}

	/** A range of a partition; of whichever topic if none is named. */
	private record Span(@Nullable String topic, int partition, long first, long last) {

		boolean isOf(TopicPartition other) {
			return this.partition == other.partition() && (this.topic == null || this.topic.equals(other.topic()));
		}

	}

}
