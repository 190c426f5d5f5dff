package io.queuestarter.container;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.support.KafkaUtils;

import io.queuestarter.deadletter.DeadLetterPublisher;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryOrder;
import io.queuestarter.dispatch.BatchRunner;
import io.queuestarter.dispatch.Batching;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.Taken;
import io.queuestarter.dispatch.TaskQueue;
import io.queuestarter.dispatch.TaskRunner;
import io.queuestarter.outage.Circuits;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;
import io.queuestarter.settle.Outcomes;
import io.queuestarter.settle.Overstays;
import io.queuestarter.settle.RetryRule;
import io.queuestarter.settle.Routes;
import io.queuestarter.settle.Settler;

/**
 * The stages of one lane that all consumers of a queue share, wired to each other:
 * dispatch, settle and retry. <em>Thread-safe.</em>
 */
final class QueueEngine {

	private static final Logger LOGGER = LoggerFactory.getLogger(QueueEngine.class);

	private static final long SHORTEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long LONGEST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	/**
	 * Retries occupy at most one slot of so many while fresh records wait, until the
	 * window is full: then fresh records wait for them. In the long run what retries cost
	 * is what is asked of them: three attempts of one record in ten leave the others
	 * 0.9/1.2 of the places, 0.83 of what they have if all succeed.
	 */
	private static final int RETRY_SHARE = 8;

	private final String lane;

	private final QueueSettings settings;

	private final QueueRuntime runtime;

	private final WorkerThreads workers;

	private final Standstill standstill;

	private final Dispatcher<Delivery> dispatcher;

	private final Outcomes outcomes = new Outcomes();

	private final Retries retries;

	private final Circuits circuits;

	private final Overstays overstays;

	private final Settler settler;

	/** Set once before the container starts, unless the queue takes batches. */
	private volatile @Nullable TaskRunner<Delivery> runner;

	/** Set once before the container starts, if the queue takes batches. */
	private volatile @Nullable BatchRunner<Delivery> batchRunner;

	/** Volatile; changed while the container starts. */
	private volatile @Nullable ScheduledFuture<?> timeouts;

	/**
	 * Wires the stages.
	 * @param lane name of the lane
	 * @param settings settings of the lane
	 * @param routes where records go that are not tried again here
	 * @param deadLetters brings them there
	 * @param roomListener told when a bound has room again
	 * @param fatal told when nothing of the engine can be trusted any more
	 */
	QueueEngine(String lane, QueueSettings settings, String group, Routes routes, DeadLetterPublisher deadLetters,
			QueueRuntime runtime, Runnable roomListener, Consumer<Throwable> fatal) {
		this.lane = lane;
		this.settings = settings;
		this.runtime = runtime;
		this.workers = runtime.workers(settings);
		this.standstill = new Standstill(runtime.time(), this.workers);
		this.dispatcher = new Dispatcher<>(settings.workers().maxInFlight(), settings.limits().records() / 2,
				(worker) -> this.workers.execute(() -> runIn(group, worker)), this::run, roomListener,
				DeliveryOrder.of(settings.ordering()), batching());
		int inFlight = settings.workers().maxInFlight();
		this.retries = new Retries(runtime.timer(), this.dispatcher, Math.max(1, inFlight / RETRY_SHARE));
		this.circuits = runtime.circuits(settings);
		QueueSettings.Retry retry = settings.retry();
		RetryRule rule = new RetryRule(
				retry.maxAttempts(), settings.timeouts().maxCount(), new Backoff(retry.initialInterval(),
						retry.multiplier(), retry.maxInterval(), () -> ThreadLocalRandom.current().nextDouble()),
				settings.exceptions());
		this.overstays = new Overstays(this.dispatcher, settings.timeouts().grace(), settings.workers().maxLeaked(),
				runtime.time());
		this.settler = new Settler(rule, routes, deadLetters, this.dispatcher, this.retries, this.overstays,
				this.outcomes, runtime.time(), fatal);
	}

	private boolean run(Delivery delivery, int slot) {
		this.standstill.hold();
		return Objects.requireNonNull(this.runner).run(delivery, slot);
	}

	/** Who runs the records; to be told once, before the container starts. */
	void bind(TaskRunner<Delivery> taskRunner) {
		this.runner = taskRunner;
	}

	private Collection<Taken<Delivery>> runBatch(List<Taken<Delivery>> batch) {
		this.standstill.hold();
		return Objects.requireNonNull(this.batchRunner).run(batch);
	}

	/** Who runs the records of a queue that takes batches. */
	void bind(BatchRunner<Delivery> taskRunner) {
		this.batchRunner = taskRunner;
	}

	private @Nullable Batching<Delivery> batching() {
		QueueSettings.Batch batch = this.settings.workers().batch();
		return (batch != null) ? new Batching<>(batch.size(), batch.linger().toNanos(), this::runBatch) : null;
	}

	/**
	 * Spring Kafka makes a header of it. Told once for each worker, since it costs as
	 * much as a good part of a quick record.
	 */
	private static void runIn(String group, Runnable worker) {
		KafkaUtils.setConsumerGroupId(group);
		try {
			worker.run();
		}
		finally {
			KafkaUtils.clearConsumerGroupId();
		}
	}

	String lane() {
		return this.lane;
	}

	QueueSettings settings() {
		return this.settings;
	}

	Overstays overstays() {
		return this.overstays;
	}

	Circuits circuits() {
		return this.circuits;
	}

	/** Takes records, also again after {@link #stop()}, and times attempts out. */
	void start() {
		stopTimeouts();
		this.standstill.restart();
		long period = Math.max(SHORTEST_LOOK_NANOS,
				Math.min(this.settings.timeouts().attempt().initial().toNanos() / 10, LONGEST_LOOK_NANOS));
		this.timeouts = this.runtime.timer()
			.scheduleWithFixedDelay(this::timeOutOverdue, period, period, TimeUnit.NANOSECONDS);
		this.dispatcher.start();
	}

	private void timeOutOverdue() {
		this.standstill.tick();
		try {
			this.settler.timeOutOverdue();
			this.circuits.tick(this.runtime.time().nanoTime());
			this.dispatcher.catchUp();
		}
		catch (Throwable ex) {
			// A look that throws would be the last one.
			LOGGER.error("Timeouts of queue '{}' were not all carried out, or workers could not be started; "
					+ "the next look follows", this.settings.id(), ex);
		}
	}

	/** Starts no further record; those that run go on. */
	void stop() {
		this.dispatcher.stop();
	}

	/** Ends what does not end with the container. */
	void close() {
		stopTimeouts();
		this.workers.close();
	}

	void stopTimeouts() {
		ScheduledFuture<?> current = this.timeouts;
		if (current != null) {
			current.cancel(false);
		}
	}

	/** Tasks of a merge, which leave fresh records most of the slots. */
	TaskQueue<Delivery> openForMerge() {
		return this.dispatcher.openAside(Math.max(1, this.settings.workers().maxInFlight() / RETRY_SHARE));
	}

	Dispatcher<Delivery> dispatcher() {
		return this.dispatcher;
	}

	Outcomes outcomes() {
		return this.outcomes;
	}

	Retries retries() {
		return this.retries;
	}

	Settler settler() {
		return this.settler;
	}

}
