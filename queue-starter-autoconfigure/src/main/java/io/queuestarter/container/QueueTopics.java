package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.delivery.Stage;
import io.queuestarter.retry.RetryTopics;

/**
 * Topics of one queue: those it consumes, and those it writes, which it looks after
 * before they are needed. <em>Thread-safe.</em>
 */
final class QueueTopics {

	/** Longest wait for the queue's own topics before it starts without them. */
	private static final Duration PREPARATION = Duration.ofSeconds(10);

	private final QueueSettings settings;

	private final List<String> sources;

	private final RetryTopics retryTopics;

	private final QueueLanes lanes;

	private final Consumer<Throwable> fatal;

	private final List<String> subscription;

	private final Set<String> seen = ConcurrentHashMap.newKeySet();

	/** Set once before the container starts; null unless the queue consumes a pattern. */
	private volatile @Nullable Pattern pattern;

	/**
	 * Creates the topics of a queue.
	 * @param sources what it consumes: topics, or one pattern
	 * @param retryTopics what it consumes besides
	 * @param lanes write to the topics
	 * @param fatal told when a topic that is written would be consumed
	 */
	QueueTopics(QueueSettings settings, List<String> sources, RetryTopics retryTopics, QueueLanes lanes,
			Consumer<Throwable> fatal) {
		this.settings = settings;
		this.sources = List.copyOf(sources);
		this.retryTopics = retryTopics;
		this.lanes = lanes;
		this.fatal = fatal;
		this.subscription = Stream.concat(sources.stream(), retryTopics.names().stream()).toList();
	}

	/** What the queue subscribes to: topics, or one pattern. */
	List<String> subscription() {
		return this.subscription;
	}

	/** The pattern that the container subscribes to, if it does. */
	void bind(@Nullable Pattern topicPattern) {
		this.pattern = topicPattern;
	}

	/**
	 * Looks after the queue's own topics before they are subscribed to: the broker would
	 * create them as it likes, or the consumer look for them again and again. Waits, but
	 * not for ever.
	 */
	void prepareOwn() {
		this.seen.clear();
		List<CompletableFuture<Void>> topics = new ArrayList<>();
		this.retryTopics.stages()
			.forEach((topic, stage) -> topics
				.add(this.lanes.deadLetters().prepare(stage.source(), topic, kind(stage), stage.delay())));
		CompletableFuture.allOf(topics.toArray(CompletableFuture[]::new))
			.completeOnTimeout(null, PREPARATION.toNanos(), TimeUnit.NANOSECONDS)
			.join();
	}

	private static Destination.Kind kind(Stage stage) {
		return (stage.kind() == Stage.Kind.PARK) ? Destination.Kind.PARK : Destination.Kind.RETRY;
	}

	/** What a topic is for. */
	Stage stage(String topic) {
		return this.retryTopics.stage(topic);
	}

	/**
	 * Looks after the topics that are written. Whoever subscribes to a pattern knows all
	 * topics that match, whose partitions ever are its own.
	 */
	void assigned(Collection<TopicPartition> partitions, Set<String> subscribed) {
		Stream<String> topics = (this.pattern != null) ? subscribed.stream()
				: partitions.stream().map(TopicPartition::topic);
		topics.map((topic) -> stage(topic).source()).distinct().forEach((source) -> {
			if (this.seen.add(source)) {
				prepare(source);
			}
		});
	}

	/**
	 * A pattern may match topics that the queue writes itself, which come to be only now.
	 */
	private void prepare(String source) {
		this.settings.lanes()
			.forwardTopics(source)
			.forEach((topic) -> isApart(topic, "records of other lanes go", "lanes.forward-topic"));
		this.lanes.deadLetterTopics(source).forEach((topic) -> {
			if (isApart(topic, "its dead letters go", "dlq.topic")) {
				this.lanes.deadLetters().prepare(source, topic, Destination.Kind.DEAD_LETTER, Duration.ZERO);
			}
		});
	}

	/** Tells of a fatal failure if the queue reads what it writes. */
	private boolean isApart(String topic, String what, String key) {
		Pattern current = this.pattern;
		if (current == null || !current.matcher(topic).matches()) {
			return true;
		}
		this.fatal.accept(new QueueConfigurationException(
				"'topicPattern' " + current + " of queue '" + this.settings.id() + "' matches '" + topic
						+ "', which is where " + what + ": each would come round again.",
				"Exclude it from the pattern, or set another " + key + "."));
		return false;
	}

	/** Whether the queue consumes a topic that others write. */
	boolean isSource(String topic) {
		return sources().contains(topic);
	}

	private Collection<String> sources() {
		return (this.pattern != null) ? this.seen : this.sources;
	}

	/** Topics that dead letters are written to, as far as the sources are known. */
	Set<String> deadLetters() {
		return sources().stream().flatMap(this.lanes::deadLetterTopics).collect(Collectors.toUnmodifiableSet());
	}

}
