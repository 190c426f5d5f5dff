package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.mockito.Mockito;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.handler.AttemptOpener;
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

	private final List<Call> calls = new ArrayList<>();

	/** Calls that were answered, to be answered once more. */
	private final ArrayDeque<Call> answered = new ArrayDeque<>();

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
		PartDecoder bytes = PartDecoder.single("value", new ByteArrayDeserializer());
		AcknowledgingConsumerAwareMessageListener<Object, Object> listener = (record, acknowledgment,
				consumer) -> watch(() -> handle((Attempt) Objects.requireNonNull(acknowledgment)));
		for (QueueEngine engine : this.queue.lanes().engines()) {
			AttemptOpener opener = new AttemptOpener(engine.settler(), simulation.clock(),
					settings.timeouts().attempt(), engine.circuits());
			engine.bind(
					new HandlerRunner(new RecordDecoder(bytes, bytes), listener, CONSUMER, opener, Surroundings.NONE));
		}
		this.queue.bind(CONTAINER);
		this.queue.starting();
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
		Ownership ownership = owner(attempt.delivery().assignment());
		assertThat(ownership).as("Owner of %s, which is handled", attempt).isNotNull();
		ownership.delivers(attempt.delivery().offset(), attempt.attempt());
		Object key = orderKey(attempt.record());
		if (key != null) {
			ownership.isNext(attempt.record(), (record) -> key.equals(orderKey(record)));
			this.queue.lanes()
				.engine(attempt.delivery())
				.dispatcher()
				.forEachInFlight((other) -> assertThat(other != attempt.delivery() && key.equals(this.keys.get(other)))
					.as("%s runs beside %s", attempt, other)
					.isFalse());
			this.keys.put(attempt.delivery(), key);
		}
		Call call = new Call(attempt, ownership);
		int choice = this.simulation.upTo(100);
		if (choice <= 15) {
			call.succeeds();
			this.simulation.note("%s succeeds in generation %s", attempt, ownership.generation);
		}
		else if (this.simulation.fails(8)) {
			this.simulation.note("%s throws in generation %s", attempt, ownership.generation);
			throw new IllegalStateException("Fails");
		}
		else {
			this.simulation.note("%s begins in generation %s", attempt, ownership.generation);
			attempt.awaitAnswer();
			this.calls.add(call);
		}
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
			Call late = this.answered.remove();
			attempt(this.simulation.happens(50) ? late.attempt::ack : () -> late.attempt.reject("late"));
		}
		if (this.calls.isEmpty()) {
			return;
		}
		int index = this.simulation.happens(30) ? 0 : this.simulation.upTo(this.calls.size()) - 1;
		Call call = this.calls.remove(index);
		if (this.answered.size() < 20) {
			this.answered.add(call);
		}
		Attempt attempt = call.attempt;
		if (this.simulation.fails(12)) {
			Duration delay = Duration.ofMillis(this.simulation.upTo(500) - 1);
			this.simulation.note("%s is to be retried after %s", attempt, delay);
			attempt(() -> attempt.retryAfter(delay));
		}
		else {
			this.simulation.note("%s succeeds in generation %s, cancelled %s", attempt, call.ownership.generation,
					attempt.isCancelled());
			call.succeeds();
			attempt(attempt::ack);
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

	/** One call of a handler whose answer is still to come. */
	private static final class Call {

		private final Attempt attempt;

		private final Ownership ownership;

		Call(Attempt attempt, Ownership ownership) {
			this.attempt = attempt;
			this.ownership = ownership;
		}

		/** The model settles the record if this answer counts. */
		void succeeds() {
			if (!this.attempt.isCancelled() && !this.ownership.ended) {
				this.ownership.settles(this.attempt.record());
			}
		}

	}

}
