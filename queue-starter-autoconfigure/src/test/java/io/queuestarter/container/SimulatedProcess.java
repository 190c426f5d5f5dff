package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.mockito.Mockito;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.HandlerCall;
import io.queuestarter.dispatch.BatchRunner;
import io.queuestarter.dispatch.Taken;
import io.queuestarter.handler.AttemptOpener;
import io.queuestarter.handler.BatchHandlerRunner;
import io.queuestarter.handler.HandlerRunner;
import io.queuestarter.handler.PartDecoder;
import io.queuestarter.handler.RecordDecoder;
import io.queuestarter.handler.Surroundings;
import io.queuestarter.testkit.ManualTimer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;

/**
 * One process of the simulation: a real queue whose workers run and whose handlers answer
 * when the simulation says so.
 */
final class SimulatedProcess {

	private static final MessageListenerContainer CONTAINER = container();

	private static final Consumer<?, ?> CONSUMER = Mockito.mock();

	private final Simulation simulation;

	private final ManualTimer timer;

	private final Queue queue;

	private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

	/** Of deliveries that were begun. */
	private final Map<Delivery, Object> keys = new WeakHashMap<>();

	private final List<SimulatedCall> calls = new ArrayList<>();

	/** Calls that were answered, to be answered once more. */
	private final ArrayDeque<SimulatedCall> answered = new ArrayDeque<>();

	/** Tasks of the batch that runs. */
	private List<Taken<Delivery>> taken = List.of();

	/** Records of batches that failed as a whole. */
	private final Set<Delivery> alone = Collections.newSetFromMap(new WeakHashMap<>());

	final List<SimulatedMember> members = new ArrayList<>();

	SimulatedProcess(Simulation simulation, QueueSettings settings) {
		this.simulation = simulation;
		this.timer = new ManualTimer(simulation.clock());
		QueueRuntime runtime = new QueueRuntime(simulation.clock(), this.timer,
				(ignored) -> new WorkerThreads(this::startWorker, (nanos) -> {
				}, () -> {
				}), Map.of(), Map.of(), (ignored) -> (source, topic, kind) -> {
				}, CircuitBreakerRegistry.ofDefaults(), null);
		this.queue = new Queue(settings, "group", List.of("orders"), runtime);
		this.queue.lanes().engines().forEach(this::bind);
		this.queue.bind(CONTAINER);
		this.queue.starting();
	}

	private void bind(QueueEngine engine) {
		PartDecoder bytes = PartDecoder.single("value", new ByteArrayDeserializer());
		RecordDecoder decoder = new RecordDecoder(bytes, bytes);
		AttemptOpener opener = new AttemptOpener(engine.settler(), this.simulation.clock(),
				engine.settings().timeouts().attempt(), engine.circuits());
		if (engine.settings().workers().batch() != null) {
			BatchRunner<Delivery> runner = new BatchHandlerRunner(decoder,
					(records, acknowledgment, consumer) -> watch(
							() -> handle(records, (HandlerCall) Objects.requireNonNull(acknowledgment))),
					CONSUMER, opener, Surroundings.NONE);
			engine.bind((batch) -> {
				this.taken = batch;
				return runner.run(batch);
			});
		}
		else {
			engine.bind(new HandlerRunner(decoder,
					(record, acknowledgment,
							consumer) -> watch(() -> handle((Attempt) Objects.requireNonNull(acknowledgment))),
					CONSUMER, opener, Surroundings.NONE));
		}
	}

	Queue queue() {
		return this.queue;
	}

	private static MessageListenerContainer container() {
		MessageListenerContainer container = Mockito.mock();
		given(container.getContainerProperties()).willReturn(new ContainerProperties("orders"));
		return container;
	}

	private void startWorker(Runnable worker) {
		if (this.simulation.fails(1)) {
			throw new RejectedExecutionException("No thread");
		}
		this.workers.add(worker);
	}

	void runWorker() {
		Runnable worker = this.workers.poll();
		if (worker != null) {
			attempt(worker);
		}
	}

	/** A refused thread is told to whoever needs it, a handler for instance. */
	private static void attempt(Runnable action) {
		try {
			action.run();
		}
		catch (RejectedExecutionException ex) {
			// Made up for by the dispatcher's catching up.
		}
	}

	void runTimer() {
		this.timer.runDue();
	}

	/** Two consumers may believe to own a partition, one of them wrongly. */
	private @Nullable Ownership owner(Assignment assignment) {
		for (SimulatedMember member : this.members) {
			Ownership ownership = member.ownership(assignment);
			if (ownership != null && !ownership.ended) {
				return ownership;
			}
		}
		return null;
	}

	/** The queue takes what the model finds wrong for a failure of the handler. */
	private void watch(Runnable handler) {
		try {
			handler.run();
		}
		catch (AssertionError ex) {
			this.simulation.foundWrong(ex);
			throw ex;
		}
	}

	private void handle(Attempt attempt) {
		SimulatedAttempt begun = begin(attempt, List.of(attempt));
		int choice = this.simulation.upTo(100);
		if (choice <= 15) {
			begun.succeeds();
			this.simulation.note("%s succeeds", begun);
		}
		else if (this.simulation.fails(8)) {
			this.simulation.note("%s throws", begun);
			throw new IllegalStateException("Fails");
		}
		else {
			this.simulation.note("%s begins", begun);
			attempt.awaitAnswer();
			this.calls.add(new Call(begun));
		}
	}

	private void handle(List<ConsumerRecord<Object, Object>> records, HandlerCall call) {
		List<Attempt> attempts = this.taken.stream()
			.map((task) -> task.task().attempt())
			.filter((attempt) -> attempt != null && !attempt.isDecided())
			.toList();
		assertThat(records).extracting(ConsumerRecord::offset)
			.as("Batch of %s", attempts)
			.isEqualTo(attempts.stream().map((attempt) -> attempt.record().offset()).toList());
		attempts.forEach((attempt) -> assertThat(this.alone.remove(attempt.delivery()) && attempts.size() > 1)
			.as("%s runs with others", attempt)
			.isFalse());
		SimulatedBatch batch = new SimulatedBatch(this.simulation,
				attempts.stream().map((attempt) -> begin(attempt, attempts)).toList(), call, this.alone);
		int choice = this.simulation.upTo(100);
		if (choice <= 15) {
			batch.succeeds();
		}
		else if (this.simulation.fails(8)) {
			throw batch.fails();
		}
		else {
			this.simulation.note("%s begin", attempts);
			call.awaitAnswer();
			this.calls.add(batch);
		}
	}

	/** An attempt begins, together with those of its batch. */
	private SimulatedAttempt begin(Attempt attempt, List<Attempt> batch) {
		Ownership ownership = owner(attempt.delivery().assignment());
		assertThat(ownership).as("Owner of %s, which is handled", attempt).isNotNull();
		ownership.delivers(attempt.delivery().offset(), attempt.attempt(),
				this.queue.settings().workers().batch() != null);
		Object key = orderKey(attempt.record());
		if (key != null) {
			List<ConsumerRecord<byte[], byte[]>> inFront = batch.subList(0, batch.indexOf(attempt))
				.stream()
				.map(Attempt::record)
				.toList();
			ownership.isNext(attempt.record(), (record) -> !inFront.contains(record) && key.equals(orderKey(record)));
			this.queue.lanes()
				.engine(attempt.delivery())
				.dispatcher()
				.forEachInFlight((other) -> assertThat(batch.stream().noneMatch((member) -> member.delivery() == other)
						&& key.equals(this.keys.get(other)))
					.as("%s runs beside %s", attempt, other)
					.isFalse());
			this.keys.put(attempt.delivery(), key);
		}
		return new SimulatedAttempt(attempt, ownership);
	}

	/** What records have in common that must not run at one time. */
	private @Nullable Object orderKey(ConsumerRecord<byte[], byte[]> record) {
		TopicPartition partition = new TopicPartition(record.topic(), record.partition());
		String lane = this.queue.settings().lanes().rules().of(record.headers()).lane();
		return switch (this.queue.settings().ordering()) {
			case UNORDERED -> null;
			case PARTITION -> List.of(partition, lane);
			case KEY -> (record.key() != null) ? List.of(partition, record.key()[0]) : null;
		};
	}

	/** Some open call is answered, or one that was answered before. */
	void answer() {
		if (!this.answered.isEmpty() && this.simulation.fails(10)) {
			attempt(this.answered.remove()::answerAgain);
		}
		if (this.calls.isEmpty()) {
			return;
		}
		int index = this.simulation.happens(30) ? 0 : this.simulation.upTo(this.calls.size()) - 1;
		SimulatedCall call = this.calls.get(index);
		if (call.answer()) {
			this.calls.remove(index);
			if (this.answered.size() < 20) {
				this.answered.add(call);
			}
		}
	}

	void check() {
		assertThat(this.queue.failure()).isNull();
		for (QueueEngine engine : this.queue.lanes().engines()) {
			assertThat(engine.dispatcher().inFlight()).isLessThanOrEqualTo(engine.settings().workers().maxInFlight());
		}
	}

	void checkIdle() {
		Map<String, Long> held = new HashMap<>();
		held.put("bytes", this.queue.bufferedBytes());
		held.put("waiting", (long) this.queue.buffered());
		held.put("turn", (long) this.queue.waitingForTurn());
		held.put("in flight", (long) this.queue.inFlight());
		held.put("retries", (long) this.queue.retryWaiting());
		assertThat(held.values()).as("%s", held).containsOnly(0L);
	}

	/** One call of a handler that takes one record. */
	private final class Call implements SimulatedCall {

		private final SimulatedAttempt begun;

		private final Attempt attempt;

		Call(SimulatedAttempt begun) {
			this.begun = begun;
			this.attempt = begun.attempt;
		}

		@Override
		public boolean answer() {
			Simulation simulation = SimulatedProcess.this.simulation;
			if (simulation.fails(12)) {
				Duration delay = Duration.ofMillis(simulation.upTo(500) - 1);
				simulation.note("%s is to be retried after %s", this.begun, delay);
				attempt(() -> this.attempt.retryAfter(delay));
			}
			else {
				simulation.note("%s succeeds, cancelled %s", this.begun, this.attempt.isCancelled());
				this.begun.succeeds();
				attempt(this.attempt::ack);
			}
			return true;
		}

		@Override
		public void answerAgain() {
			if (SimulatedProcess.this.simulation.happens(50)) {
				this.attempt.ack();
			}
			else {
				this.attempt.reject("late");
			}
		}

	}

}
