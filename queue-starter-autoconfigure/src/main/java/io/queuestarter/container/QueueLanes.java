package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import io.queuestarter.QueueException;
import io.queuestarter.deadletter.DeadLetterPublisher;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.deadletter.Failure;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.intake.Foreign;
import io.queuestarter.intake.IntakeCounts;
import io.queuestarter.intake.IntakeLanes;
import io.queuestarter.outage.CircuitState;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.settle.Outcomes;
import io.queuestarter.settle.Routes;

/**
 * The lanes of a queue that are served here, each with an engine of its own, and what
 * they share: bytes, counts and the writer of dead letters. A queue without lanes has
 * one. <em>Thread-safe.</em>
 */
final class QueueLanes implements IntakeLanes.Actions {

	private final QueueSettings settings;

	private final List<QueueEngine> engines = new ArrayList<>();

	private final List<Routes> routes = new ArrayList<>();

	/** Where records go whose lane is not served. */
	private final Routes foreign;

	private final DeadLetterPublisher deadLetters;

	private final ByteBudget bytes;

	private final IntakeCounts intakeCounts = new IntakeCounts();

	private final Outcomes outcomes;

	QueueLanes(QueueSettings settings, String group, RetryTopics retryTopics, QueueRuntime runtime,
			Runnable roomListener, Consumer<Throwable> fatal) {
		this.settings = settings;
		this.bytes = new ByteBudget(settings.limits().bytes(), roomListener);
		this.deadLetters = runtime.deadLetters(settings, group, (delivery) -> routes(delivery).deadLetter(delivery));
		this.foreign = routes(settings, retryTopics);
		for (Map.Entry<String, QueueSettings> lane : settings.lanes().settings(settings).entrySet()) {
			Routes own = routes(lane.getValue(), retryTopics);
			this.routes.add(own);
			this.engines.add(new QueueEngine(lane.getKey(), lane.getValue(), group, own, this.deadLetters, runtime,
					roomListener, fatal));
		}
		this.outcomes = new Outcomes(this.engines.stream().map(QueueEngine::outcomes).toList());
	}

	private static Routes routes(QueueSettings lane, RetryTopics retryTopics) {
		return new Routes(retryTopics, lane.deadLetters().enabled() ? lane.deadLetters().topic() : null, lane.aside());
	}

	private Routes routes(Delivery delivery) {
		return delivery.context().isServed() ? this.routes.get(delivery.context().index()) : this.foreign;
	}

	/** Topics of dead letters, those of foreign records included; lanes may share one. */
	Stream<String> deadLetterTopics(String source) {
		Stream<QueueSettings> foreign = (this.settings.lanes().foreign() == Foreign.DEAD_LETTER)
				? Stream.of(this.settings) : Stream.empty();
		return Stream.concat(this.engines.stream().map(QueueEngine::settings), foreign)
			.map(QueueSettings::deadLetters)
			.filter(QueueSettings.DeadLetterTopic::enabled)
			.map((letters) -> letters.topic().replace("{topic}", source))
			.distinct();
	}

	/** One for each lane served, by its index. */
	List<QueueEngine> engines() {
		return this.engines;
	}

	/** Who runs a record that is served. */
	QueueEngine engine(Delivery delivery) {
		return this.engines.get(delivery.context().index());
	}

	/** For one more consumer. */
	IntakeLanes intake() {
		LaneSettings lanes = this.settings.lanes();
		return new IntakeLanes(lanes.rules(), this.engines.stream().map(QueueEngine::dispatcher).toList(),
				lanes.foreign(), lanes.zone(), this);
	}

	@Override
	public void redirect(Delivery delivery, Foreign foreign) {
		String topic = this.settings.lanes().forwardTopic();
		String lane = delivery.context().lane();
		Destination destination = (foreign == Foreign.FORWARD && topic != null)
				? new Destination(Destination.Kind.FORWARD,
						topic.replace("{topic}", delivery.assignment().stage().source()).replace("{lane}", lane), 0)
				: this.foreign.deadLetter(delivery);
		if (destination != null && delivery.move(DeliveryState.QUEUED, DeliveryState.DEAD_LETTERING)) {
			this.deadLetters.publish(delivery, new Failure(DeadLetterReason.FOREIGN_LANE, 0,
					new QueueException("Lane '" + lane + "' is not served here", null)), destination);
		}
	}

	@Override
	public void rest(Delivery delivery, Duration time) {
		engine(delivery).settler().rest(delivery, time);
	}

	void start() {
		this.engines.forEach(QueueEngine::start);
	}

	void stop() {
		this.engines.forEach(QueueEngine::stop);
	}

	void close() {
		this.engines.forEach(QueueEngine::stopTimeouts);
		this.deadLetters.close();
		this.engines.forEach(QueueEngine::close);
	}

	/** Whether no lane lets an attempt pass. */
	boolean isOpen() {
		return this.engines.stream().allMatch((engine) -> engine.circuits().isOpen());
	}

	List<CircuitState> circuitStates(long nowNanos) {
		return this.engines.stream().flatMap((engine) -> engine.circuits().states(nowNanos).stream()).toList();
	}

	int sum(ToIntFunction<QueueEngine> number) {
		return this.engines.stream().mapToInt(number).sum();
	}

	DeadLetterPublisher deadLetters() {
		return this.deadLetters;
	}

	ByteBudget bytes() {
		return this.bytes;
	}

	IntakeCounts intakeCounts() {
		return this.intakeCounts;
	}

	Outcomes outcomes() {
		return this.outcomes;
	}

}
