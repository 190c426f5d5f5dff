package io.queuestarter.browse;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * What some dead letters of a topic tell about all. <em>Not thread-safe.</em>
 */
final class LetterSample {

	/** Dead letters that are counted by what they are there for. */
	private static final int MOST = 500;

	private static final String NOT_KNOWN = "unknown";

	private final String topic;

	private final Map<TopicPartition, LetterLog> logs = new HashMap<>();

	private final Map<String, Long> byException = new TreeMap<>();

	private final Map<String, Long> byReason = new TreeMap<>();

	private @Nullable Instant oldest;

	private @Nullable Instant newest;

	private long size;

	LetterSample(String topic, Map<TopicPartition, LetterLog> logs) {
		this.topic = topic;
		logs.forEach((partition, log) -> {
			if (partition.topic().equals(topic)) {
				this.logs.put(partition, log);
			}
		});
	}

	Map<TopicPartition, Long> positions() {
		return offsets(LetterLog::first);
	}

	Map<TopicPartition, Long> tails(int records) {
		return offsets((log) -> log.tail(records));
	}

	Map<TopicPartition, Long> ends() {
		return offsets((log) -> log.span().end());
	}

	private Map<TopicPartition, Long> offsets(ToLongFunction<LetterLog> offset) {
		Map<TopicPartition, Long> offsets = new HashMap<>();
		this.logs.forEach((partition, log) -> offsets.put(partition, offset.applyAsLong(log)));
		return offsets;
	}

	Verdict add(DeadLetter letter) {
		if (!isResolved(letter)) {
			this.size++;
			this.byException.merge(letter.kind(), 1L, Long::sum);
			this.byReason.merge((letter.reason() != null) ? letter.reason() : NOT_KNOWN, 1L, Long::sum);
		}
		return (this.size < MOST) ? Verdict.NEXT : Verdict.STOP;
	}

	/** The first of its partition that is not resolved is the oldest there. */
	Verdict addFirst(DeadLetter letter) {
		if (isResolved(letter)) {
			return Verdict.NEXT;
		}
		Instant timestamp = letter.timestamp();
		this.oldest = (this.oldest == null || timestamp.isBefore(this.oldest)) ? timestamp : this.oldest;
		return Verdict.LEAVE;
	}

	Verdict addLast(DeadLetter letter) {
		if (!isResolved(letter)) {
			Instant timestamp = letter.timestamp();
			this.newest = (this.newest == null || timestamp.isAfter(this.newest)) ? timestamp : this.newest;
		}
		return Verdict.NEXT;
	}

	@Nullable Instant oldest() {
		return this.oldest;
	}

	long depth() {
		return this.logs.values().stream().mapToLong(LetterLog::depth).sum();
	}

	private boolean isResolved(DeadLetter letter) {
		LetterLog log = this.logs.get(letter.partition());
		return log == null || log.resolved().contains(letter.offset());
	}

	TopicOverview overview() {
		return new TopicOverview(this.topic, this.logs.size(), depth(), this.oldest, this.newest, this.byException,
				this.byReason, this.size);
	}

}
