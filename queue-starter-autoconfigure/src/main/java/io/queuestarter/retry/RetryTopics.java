package io.queuestarter.retry;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.Stage.Kind;

/**
 * The topics that a queue writes for itself: retry topics in tiers, and a park topic for
 * records that hold up a partition. <em>Immutable.</em>
 * <p>
 * A record goes through each tier as often as the tier says, one attempt each time, and
 * then to the next. Source of the rule: the retry queues of Uber's uForwarder.
 */
public final class RetryTopics {

	private final List<RetryTier> tiers;

	private final @Nullable String park;

	private final Map<String, Stage> stages = new LinkedHashMap<>();

	/**
	 * Creates the topics of a queue.
	 * @param tiers the tiers, first one first
	 * @param park name of the park topic, in which {@code {topic}} stands for the source
	 * topic; or {@code null} for none
	 * @param sources topics that the queue consumes
	 */
	public RetryTopics(List<RetryTier> tiers, @Nullable String park, Collection<String> sources) {
		this.tiers = List.copyOf(tiers);
		this.park = park;
		for (String source : sources) {
			for (RetryTier tier : tiers) {
				this.stages.put(tier.topicFor(source), new Stage(source, Kind.RETRY, tier.delay()));
			}
			if (park != null) {
				this.stages.put(park.replace("{topic}", source), new Stage(source, Kind.PARK, Duration.ZERO));
			}
		}
	}

	/**
	 * Topics to be consumed beside the sources.
	 * @return their names
	 */
	public Set<String> names() {
		return this.stages.keySet();
	}

	/**
	 * Topics to be consumed beside the sources, and what they are for.
	 * @return stages by name
	 */
	public Map<String, Stage> stages() {
		return new HashMap<>(this.stages);
	}

	/**
	 * What a topic is for.
	 * @param topic its name
	 * @return its stage; that of a source if it is none of the queue's own
	 */
	public Stage stage(String topic) {
		Stage stage = this.stages.get(topic);
		return (stage != null) ? stage : Stage.source(topic);
	}

	/**
	 * Where a record rests before its next attempt.
	 * @param source topic it comes from
	 * @param retries times that it rested before
	 * @return name of a topic, or {@code null} if it has gone through all tiers
	 */
	public @Nullable String next(String source, int retries) {
		int passed = retries;
		for (RetryTier tier : this.tiers) {
			passed -= tier.attempts();
			if (passed < 0) {
				return tier.topicFor(source);
			}
		}
		return null;
	}

	/**
	 * Where a record rests that has gone through all tiers and has nowhere else to go.
	 * @param source topic it comes from
	 * @return name of a topic, or {@code null} if there are no tiers
	 */
	public @Nullable String last(String source) {
		return this.tiers.isEmpty() ? null : this.tiers.get(this.tiers.size() - 1).topicFor(source);
	}

	/**
	 * Where a record that holds up a partition goes on.
	 * @param stage stage that it was read from
	 * @return name of a topic, or {@code null} if there is none, or the record comes from
	 * it
	 */
	public @Nullable String park(Stage stage) {
		return (this.park == null || stage.kind() == Kind.PARK) ? null : this.park.replace("{topic}", stage.source());
	}

}
