package io.queuestarter.browse;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.common.TopicPartition;

/**
 * From where to where a search reads: no further than what its filter can mean. <em>Not
 * thread-safe.</em>
 */
final class ScanPlan {

	private final Map<TopicPartition, Long> positions = new HashMap<>();

	private final Map<TopicPartition, Long> ends = new HashMap<>();

	ScanPlan(Map<TopicPartition, LetterLog> logs, LetterSearch search, Map<TopicPartition, Long> cursor) {
		logs.forEach((partition, log) -> {
			long end = log.span().end();
			long last = search.filter().highest(partition).orElse(end - 1);
			this.ends.put(partition, Math.min(last + 1, end));
			long begin = search.resolvedToo() ? log.span().start() : log.first();
			long lowest = search.filter().lowest(partition).orElse(0);
			begin(partition, Math.max(Math.max(begin, lowest), cursor.getOrDefault(partition, 0L)));
		});
	}

	private void begin(TopicPartition partition, long offset) {
		this.positions.put(partition, Math.min(offset, Objects.requireNonNull(this.ends.get(partition))));
	}

	/** Skips what is before; a partition not named is skipped as a whole. */
	void beginAt(Map<TopicPartition, Long> offsets) {
		Map.copyOf(this.positions)
			.forEach((partition, position) -> begin(partition,
					Math.max(position, offsets.getOrDefault(partition, Long.MAX_VALUE))));
	}

	Map<TopicPartition, Long> positions() {
		return this.positions;
	}

	Map<TopicPartition, Long> ends() {
		return this.ends;
	}

}
