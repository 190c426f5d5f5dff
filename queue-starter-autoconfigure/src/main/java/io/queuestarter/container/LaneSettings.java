package io.queuestarter.container;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.queuestarter.context.ContextRules;
import io.queuestarter.context.RecordContext;
import io.queuestarter.intake.Foreign;
import io.queuestarter.intake.ZoneRule;

/**
 * Lanes of a queue: which records belong together, and what each lane has of its own.
 *
 * @param rules tell lane and zone of a record
 * @param defaultLane lane of records that name none
 * @param served settings of the lanes served here, in the order of their indexes; empty
 * if the queue has no lanes, and its one lane has the queue's settings
 * @param foreign what becomes of records of other lanes
 * @param forwardTopic name of the topic that {@link Foreign#FORWARD} writes, in which
 * {@code {topic}} stands for the source topic and {@code {lane}} for the lane; or
 * {@code null}
 * @param zone what becomes of records of other zones
 */
public record LaneSettings(ContextRules rules, String defaultLane, Map<String, QueueSettings> served, Foreign foreign,
		@Nullable String forwardTopic, ZoneRule zone) {

	/**
	 * Of a queue without lanes.
	 */
	public static final LaneSettings NONE = new LaneSettings(ContextRules.NONE, RecordContext.DEFAULT_LANE, Map.of(),
			Foreign.HOLD, null, ZoneRule.NONE);

	/**
	 * What the consumer group's name ends with. A process that skips records of the
	 * default lane must not commit for those who serve it.
	 * @return empty if the default lane is served here
	 */
	String groupSuffix() {
		if (this.served.isEmpty() || this.served.containsKey(this.defaultLane)) {
			return "";
		}
		return this.served.keySet().stream().sorted().collect(Collectors.joining(".", ".", ""));
	}

	/** What the log says of them when the queue starts. */
	String summary() {
		return this.served.isEmpty() ? ""
				: ", lanes " + this.served.keySet() + ", others: " + this.foreign.name().toLowerCase(Locale.ROOT);
	}

	/** Topics that records of other lanes are written to. */
	List<String> forwardTopics(String source) {
		String topic = this.forwardTopic;
		return (topic == null || this.foreign != Foreign.FORWARD) ? List.of()
				: this.rules.lanes()
					.stream()
					.map((lane) -> topic.replace("{topic}", source).replace("{lane}", lane))
					.distinct()
					.toList();
	}

	/** Settings by lane, also of a queue without lanes. */
	Map<String, QueueSettings> settings(QueueSettings queue) {
		return this.served.isEmpty() ? Map.of(this.defaultLane, queue) : new LinkedHashMap<>(this.served);
	}

	/** Names of the lanes served, in the order of their indexes. */
	List<String> names() {
		return this.served.isEmpty() ? List.of(this.defaultLane) : List.copyOf(this.served.keySet());
	}

}
