package io.queuestarter.container;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.Ordering;
import io.queuestarter.QueueException;
import io.queuestarter.blockage.HeadRelief;
import io.queuestarter.blockage.LaneProgress;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.intake.Intake;
import io.queuestarter.intake.IntakeCounts;
import io.queuestarter.jobs.JobQueue;
import io.queuestarter.jobs.Redelivery;
import io.queuestarter.log.LogLimit;
import io.queuestarter.outage.CircuitState;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.settle.Outcomes;
import io.queuestarter.settle.Routes;

/**
 * One queue of this process: what its consumers share, and what operators see of it.
 * <em>Thread-safe.</em>
 */
public final class Queue implements JobQueue {

	private static final Logger LOGGER = LoggerFactory.getLogger(Queue.class);

	private final QueueSettings settings;

	private final String group;

	private final QueueRuntime runtime;

	private final QueueLanes lanes;

	private final List<QueueLane> servedLanes;

	private final LogLimit moves;

	private final QueueTopics topics;

	private final List<QueueConsumer> consumers = new CopyOnWriteArrayList<>();

	private final TopicLives topicLives;

	private final StaticMembers staticMembers;

	/** Set once before the container starts. */
	private volatile @Nullable MessageListenerContainer container;

	/** Written by who starts the queue. */
	private volatile boolean started;

	/** Written by the consumer threads; staleness is fine. */
	private volatile @Nullable Instant lastPoll;

	/** Written by whoever finds the queue beyond help; reset when it starts. */
	private volatile @Nullable Throwable failure;

	/** Written by the consumer threads; staleness is fine. */
	private volatile @Nullable String pollProblem;

	/** Written by the consumer threads; staleness is fine. */
	private volatile @Nullable String commitProblem;

	/** Written by who looks at the logs; staleness is fine. */
	private volatile Map<TopicPartition, LogBounds> logs = Map.of();

	/**
	 * Creates a queue.
	 * @param sources what it consumes: topics, or one pattern
	 */
	Queue(QueueSettings settings, String group, List<String> sources, QueueRuntime runtime) {
		this.settings = settings;
		this.group = group;
		this.runtime = runtime;
		RetryTopics retryTopics = new RetryTopics(settings.retry().tiers(), settings.retry().parkTopic(), sources);
		this.lanes = new QueueLanes(settings, group, retryTopics, runtime, this::raise, this::fail);
		this.topics = new QueueTopics(settings, sources, retryTopics, this.lanes, this::fail);
		this.servedLanes = settings.lanes().served().isEmpty() ? List.of()
				: IntStream.range(0, this.lanes.engines().size())
					.mapToObj((index) -> new QueueLane(this, this.lanes.engines().get(index), index))
					.toList();
		this.moves = new LogLimit(runtime.time()::nanoTime);
		this.staticMembers = new StaticMembers(settings.id(), group, this::fail);
		this.topicLives = new TopicLives(settings.id(), runtime::admin);
	}

	private void raise() {
		this.consumers.forEach((consumer) -> consumer.signal().raise());
	}

	/**
	 * Stops the queue: nothing can be concluded about the record, nor be trusted after.
	 */
	private void fail(Throwable error) {
		boolean stops = this.failure == null;
		this.failure = error;
		this.lanes.stop();
		if (!stops) {
			// A batch fails record by record, and each would say the same.
			return;
		}
		MessageListenerContainer current = this.container;
		if (current != null) {
			// Elsewhere, since a stop may wait for workers.
			ForkJoinPool.commonPool().execute(() -> current.stopAbnormally(() -> {
			}));
		}
		// Last, since it needs memory.
		String reason = (error instanceof QueueException) ? error.getMessage() : error.getClass().getName();
		LOGGER.error("Queue '{}' stops; what it has not settled is delivered again: {}", id(), reason, error);
	}

	StaticMembers staticMembers() {
		return this.staticMembers;
	}

	TopicLives topicLives() {
		return this.topicLives;
	}

	/** Moves aside what holds the partitions of one consumer. */
	HeadRelief headRelief() {
		long now = this.runtime.time().nanoTime();
		// Parked records would be overtaken by those behind them.
		boolean parks = this.settings.aside() == Routes.Aside.PARK && this.settings.ordering() == Ordering.UNORDERED;
		List<LaneProgress> progress = this.lanes.engines()
			.stream()
			.map((engine) -> new LaneProgress(engine.settler(),
					engine.settings().timeouts().attempt().initial().toNanos() / 2, now))
			.toList();
		return new HeadRelief(this.settings.blocking(), progress, parks, this.moves, now);
	}

	/** The lanes that are served here. */
	QueueLanes lanes() {
		return this.lanes;
	}

	/** The container that polls for the queue; to be told once, before it starts. */
	void bind(MessageListenerContainer listenerContainer) {
		this.topics.bind(listenerContainer.getContainerProperties().getTopicPattern());
		this.container = listenerContainer;
	}

	/** Whether its records are handled, or were. */
	boolean isStarted() {
		return this.started;
	}

	/** The container begins to start. */
	void starting() {
		this.started = true;
		this.failure = null;
		this.staticMembers.starting();
		this.topics.prepareOwn();
		this.lanes.start();
		LOGGER.info("Queue '{}' starts: group '{}', up to {} in flight on {} threads, window {} records{}", id(),
				this.group, this.settings.workers().maxInFlight(),
				this.settings.workers().virtual() ? "virtual" : "platform", this.settings.limits().window(),
				this.settings.lanes().summary());
	}

	QueueTopics topics() {
		return this.topics;
	}

	/** Makes the consumer that the container uses of the one that Kafka made. */
	Consumer<byte[], byte[]> gate(Consumer<byte[], byte[]> consumer) {
		return new ConsumerGate(consumer, add(consumer, new ConsumerSignal()), this::pollFailed).proxy();
	}

	QueueConsumer add(Consumer<byte[], byte[]> consumer, ConsumerSignal signal) {
		Intake intake = new Intake(this.settings.limits(), this.topics::stage, this.lanes.intake(), this.lanes.bytes(),
				this.lanes.intakeCounts(), this.runtime.time(), signal::raise);
		QueueConsumer queueConsumer = new QueueConsumer(this, consumer, this.runtime.time(), signal, intake);
		this.consumers.add(queueConsumer);
		return queueConsumer;
	}

	void closed(QueueConsumer consumer) {
		this.consumers.remove(consumer);
	}

	void polled(Instant now) {
		this.lastPoll = now;
		this.pollProblem = null;
	}

	void pollFailed(Exception error) {
		this.pollProblem = error.toString();
	}

	/** A commit failed with a text, or succeeded. */
	void committed(@Nullable String problem) {
		this.commitProblem = problem;
	}

	/** What the broker said of the logs of this queue's partitions. */
	void logs(Map<TopicPartition, LogBounds> bounds) {
		this.logs = bounds;
	}

	/** The log of a partition as last seen. */
	LogBounds log(TopicPartition partition) {
		return this.logs.getOrDefault(partition, LogBounds.UNKNOWN);
	}

	/** Ends what does not end with the container. */
	void close() {
		this.lanes.close();
	}

	@Override
	public boolean isSource(String topic) {
		return this.topics.isSource(topic);
	}

	@Override
	public Redelivery redelivery() {
		return new QueueRedelivery(this, this.lanes, this.runtime.time());
	}

	/**
	 * Id of the queue.
	 * @return the id
	 */
	@Override
	public String id() {
		return this.settings.id();
	}

	/**
	 * Consumer group.
	 * @return the group id
	 */
	@Override
	public String group() {
		return this.group;
	}

	/**
	 * Settings in effect.
	 * @return the settings
	 */
	public QueueSettings settings() {
		return this.settings;
	}

	/**
	 * What the queue subscribes to.
	 * @return topics, or one pattern
	 */
	public List<String> subscription() {
		return this.topics.subscription();
	}

	/**
	 * Topics that the queue writes dead letters to. If it subscribes to a pattern, those
	 * of the topics that matched when partitions were assigned last.
	 * @return the topics, whether they exist or not; empty if there are no dead letters
	 */
	@Override
	public Set<String> deadLetterTopics() {
		return this.topics.deadLetters();
	}

	/**
	 * Whether the queue or one of its lanes writes dead letters.
	 * @return {@code false} if there are none
	 */
	public boolean writesDeadLetters() {
		return this.lanes.deadLetterTopics("").findAny().isPresent();
	}

	/**
	 * Where the queue stands in its life.
	 * @return the state
	 */
	public QueueState state() {
		MessageListenerContainer current = this.container;
		if (failure() != null || (current != null && !current.isInExpectedState())) {
			return QueueState.FAILED;
		}
		if (current == null || !current.isRunning()) {
			return this.consumers.isEmpty() ? QueueState.STOPPED : QueueState.DRAINING;
		}
		if (current.isPauseRequested()) {
			return QueueState.PAUSED;
		}
		return (this.lastPoll == null) ? QueueState.STARTING : QueueState.RUNNING;
	}

	/**
	 * Why the queue failed, or is kept out of its group.
	 * @return the error, or {@code null}
	 */
	public @Nullable Throwable failure() {
		Throwable current = this.failure;
		return (current != null) ? current : this.staticMembers.problem();
	}

	/**
	 * When a consumer of the queue last returned from a poll.
	 * @return the time, or {@code null} before the first poll
	 */
	public @Nullable Instant lastPoll() {
		return this.lastPoll;
	}

	/**
	 * Partitions assigned to this process, as of the last look.
	 * @return a snapshot
	 */
	public List<PartitionView> partitions() {
		return this.consumers.stream().flatMap((consumer) -> consumer.views().stream()).toList();
	}

	/**
	 * The lanes that are served here, in the order of their indexes.
	 * @return one each; empty if the queue has no lanes
	 */
	public List<QueueLane> servedLanes() {
		return this.servedLanes;
	}

	/**
	 * Largest number of records handled at one time, over all lanes.
	 * @return the number
	 */
	public int limit() {
		return this.lanes.sum((engine) -> engine.settings().workers().maxInFlight());
	}

	/**
	 * Records handled at this moment.
	 * @return the number
	 */
	public int inFlight() {
		return this.lanes.sum((engine) -> engine.dispatcher().inFlight());
	}

	/**
	 * Records that wait for a worker.
	 * @return the number
	 */
	public int buffered() {
		return this.lanes.sum((engine) -> engine.dispatcher().waiting());
	}

	/**
	 * Records that wait for others in front of them, by the ordering of the queue.
	 * @return the number, 0 if it has none
	 */
	public int waitingForTurn() {
		return this.lanes.sum((engine) -> engine.dispatcher().waitingForTurn());
	}

	/**
	 * Bytes of the records that are not settled.
	 * @return the number of bytes
	 */
	public long bufferedBytes() {
		return this.lanes.bytes().held();
	}

	/**
	 * Records that wait for the moment of their next attempt.
	 * @return the number
	 */
	public int retryWaiting() {
		return this.lanes.sum((engine) -> engine.retries().waiting());
	}

	/**
	 * What the consumers noticed of the records they polled.
	 * @return the counters
	 */
	public IntakeCounts intakeCounts() {
		return this.lanes.intakeCounts();
	}

	/**
	 * Records settled without being handled, since their lane is not served here.
	 * @return the number
	 */
	public long skipped() {
		return intakeCounts().skipped();
	}

	/**
	 * State of the queue's circuit breakers and failure budgets.
	 * @return one state a circuit
	 */
	public List<CircuitState> circuitStates() {
		return this.lanes.circuitStates(this.runtime.time().nanoTime());
	}

	List<CircuitState> circuitStates(QueueEngine engine) {
		return engine.circuits().states(this.runtime.time().nanoTime());
	}

	/**
	 * Handlers that run on although their attempt was cancelled, and whose places others
	 * have.
	 * @return the number
	 */
	public int leaked() {
		return this.lanes.sum((engine) -> engine.overstays().leaked());
	}

	/**
	 * What became of the attempts so far.
	 * @return the counters
	 */
	public Outcomes outcomes() {
		return this.lanes.outcomes();
	}

	/**
	 * Dead letters that the broker acknowledged.
	 * @param reason why they were dead-lettered
	 * @return the number
	 */
	public long deadLettered(DeadLetterReason reason) {
		return this.lanes.deadLetters().published(reason);
	}

	/**
	 * Dead letters that the broker acknowledged.
	 * @return the number
	 */
	public long deadLettered() {
		return Stream.of(DeadLetterReason.values()).mapToLong(this::deadLettered).sum();
	}

	/**
	 * Records that the broker acknowledged in a topic of one kind.
	 * @param kind what the topic is for
	 * @return the number
	 */
	public long redirected(Destination.Kind kind) {
		return this.lanes.deadLetters().redirected(kind);
	}

	/**
	 * Records that wait to be written to the dead-letter topic, or to one of the queue's
	 * own.
	 * @return the number
	 */
	public int deadLettersWaiting() {
		return this.lanes.deadLetters().waiting();
	}

	/**
	 * Writes to the dead-letter topic that failed; each is repeated.
	 * @return the number
	 */
	public long deadLetterFailures() {
		return this.lanes.deadLetters().failures();
	}

	/**
	 * What the last poll failed with.
	 * @return a text for operators, or {@code null} if it succeeded
	 */
	public @Nullable String pollProblem() {
		return this.pollProblem;
	}

	/**
	 * What the last commit failed with.
	 * @return a text for operators, or {@code null} if it succeeded
	 */
	public @Nullable String commitProblem() {
		return this.commitProblem;
	}

	/**
	 * Largest age of a record that holds a watermark.
	 * @return the age, zero if none does
	 */
	public Duration headAge() {
		return partitions().stream()
			.map(PartitionView::head)
			.filter(Objects::nonNull)
			.map(PartitionView.Head::age)
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
	}

	/**
	 * What keeps dead letters from being written.
	 * @return a text for operators, or {@code null}
	 */
	public @Nullable String deadLetterProblem() {
		return this.lanes.deadLetters().problem();
	}

}
