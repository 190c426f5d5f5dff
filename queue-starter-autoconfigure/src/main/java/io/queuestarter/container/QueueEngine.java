package io.queuestarter.container;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.support.KafkaUtils;

import io.queuestarter.blockage.HeadRelief;
import io.queuestarter.deadletter.DeadLetterPublisher;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryOrder;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskQueue;
import io.queuestarter.dispatch.TaskRunner;
import io.queuestarter.intake.IntakeCounts;
import io.queuestarter.log.LogLimit;
import io.queuestarter.outage.Circuits;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.settle.Outcomes;
import io.queuestarter.settle.Overstays;
import io.queuestarter.settle.RetryRule;
import io.queuestarter.settle.Routes;
import io.queuestarter.settle.Settler;

/**
 * The stages that all consumers of a queue share, wired to each other: dispatch, settle,
 * retry and dead letters. <em>Thread-safe.</em>
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

	private final QueueSettings settings;

	private final QueueRuntime runtime;

	private final WorkerThreads workers;

	private final Standstill standstill;

	private final Dispatcher<Delivery> dispatcher;

	private final ByteBudget bytes;

	private final IntakeCounts intakeCounts = new IntakeCounts();

	private final Outcomes outcomes = new Outcomes();

	private final Retries retries;

	private final Circuits circuits;

	private final Overstays overstays;

	private final DeadLetterPublisher deadLetters;

	private final Settler settler;

	private final LogLimit moves;

	/** Volatile; changed while the container starts. */
	private volatile @Nullable ScheduledFuture<?> timeouts;

	/**
	 * Wires the stages.
	 * @param retryTopics topics that the queue writes for itself
	 * @param runner runs a record on a worker
	 * @param roomListener told when a bound has room again
	 * @param fatal told when nothing of the engine can be trusted any more
	 */
	QueueEngine(QueueSettings settings, String group, RetryTopics retryTopics, QueueRuntime runtime,
			TaskRunner<Delivery> runner, Runnable roomListener, Consumer<Throwable> fatal) {
		this.settings = settings;
		this.runtime = runtime;
		this.workers = runtime.workers(settings);
		this.standstill = new Standstill(runtime.time(), this.workers);
		this.dispatcher = new Dispatcher<>(settings.workers().maxInFlight(), settings.limits().records() / 2,
				(worker) -> this.workers.execute(() -> runIn(group, worker)), (delivery, slot) -> {
					this.standstill.hold();
					return runner.run(delivery, slot);
				}, roomListener, DeliveryOrder.of(settings.ordering()));
		this.bytes = new ByteBudget(settings.limits().bytes(), roomListener);
		int inFlight = settings.workers().maxInFlight();
		this.retries = new Retries(runtime.timer(), this.dispatcher, Math.max(1, inFlight / RETRY_SHARE));
		this.circuits = runtime.circuits(settings);
		Routes routes = new Routes(retryTopics,
				settings.deadLetters().enabled() ? settings.deadLetters().topic() : null, settings.aside());
		this.deadLetters = runtime.deadLetters(settings, group, routes);
		QueueSettings.Retry retry = settings.retry();
		RetryRule rule = new RetryRule(
				retry.maxAttempts(), settings.timeouts().maxCount(), new Backoff(retry.initialInterval(),
						retry.multiplier(), retry.maxInterval(), () -> ThreadLocalRandom.current().nextDouble()),
				settings.exceptions());
		this.overstays = new Overstays(this.dispatcher, settings.timeouts().grace(), settings.workers().maxLeaked(),
				runtime.time());
		this.settler = new Settler(rule, routes, this.deadLetters, this.dispatcher, this.retries, this.overstays,
				this.outcomes, runtime.time(), fatal);
		this.moves = new LogLimit(runtime.time()::nanoTime);
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

	/** Moves aside what holds the partitions of one consumer. */
	HeadRelief headRelief() {
		return new HeadRelief(this.settings.blocking(), this.settler, this.moves, this.runtime.time().nanoTime());
	}

	Overstays overstays() {
		return this.overstays;
	}

	Circuits circuits() {
		return this.circuits;
	}

	/** Takes records, also again after {@link #stop()}, and times attempts out. */
	void start() {
		cancelTimeouts();
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
		cancelTimeouts();
		this.deadLetters.close();
		this.workers.close();
	}

	private void cancelTimeouts() {
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

	ByteBudget bytes() {
		return this.bytes;
	}

	IntakeCounts intakeCounts() {
		return this.intakeCounts;
	}

	Outcomes outcomes() {
		return this.outcomes;
	}

	Retries retries() {
		return this.retries;
	}

	DeadLetterPublisher deadLetters() {
		return this.deadLetters;
	}

	Settler settler() {
		return this.settler;
	}

}
