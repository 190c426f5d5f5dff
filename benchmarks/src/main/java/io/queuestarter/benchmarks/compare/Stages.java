package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;

import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskRunner;
import io.queuestarter.intake.Intake;
import io.queuestarter.intake.IntakeCounts;
import io.queuestarter.intake.IntakeLanes;
import io.queuestarter.intake.IntakeLimits;
import io.queuestarter.outage.Circuits;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.settle.ExceptionPolicy;
import io.queuestarter.settle.Outcomes;
import io.queuestarter.settle.Overstays;
import io.queuestarter.settle.RetryRule;
import io.queuestarter.settle.Routes;
import io.queuestarter.settle.Settler;

/**
 * The stages of a queue, wired as the queue wires them, but without dead letters.
 */
final class Stages {

	static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofSeconds(30), 1, Duration.ofSeconds(30));

	private final int buffer;

	private final Circuits circuits = new Circuits(
			new OutageSettings(true, "stages", null, Duration.ofMinutes(5), 1, Duration.ofMinutes(2)),
			CircuitBreakerRegistry.ofDefaults(), null, System::nanoTime);

	private final Dispatcher<Delivery> dispatcher;

	private final Settler settler;

	Stages(int inFlight, int buffer, Executor workers, ScheduledExecutorService timer, TaskRunner<Delivery> runner,
			Runnable roomListener) {
		this.buffer = buffer;
		this.dispatcher = new Dispatcher<>(inFlight, buffer / 2, workers, runner, roomListener);
		RetryRule rule = new RetryRule(Handlers.ATTEMPTS, Handlers.ATTEMPTS,
				new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(10), () -> 0.5), ExceptionPolicy.RETRY_ALL);
		Routes routes = new Routes(new RetryTopics(List.of(), null, List.of()), null, Routes.Aside.DLQ);
		this.settler = new Settler(rule, routes, (delivery, failure, destination) -> {
			throw new IllegalStateException("There is no dead-letter topic");
		}, this.dispatcher, new Retries(timer, this.dispatcher, 1),
				new Overstays(this.dispatcher, Duration.ofSeconds(5), 1, TimeSource.SYSTEM), new Outcomes(),
				TimeSource.SYSTEM, (error) -> {
					throw new IllegalStateException(error);
				});
	}

	Intake intake(int window, long bytes, Runnable roomListener) {
		return new Intake(new IntakeLimits(window, this.buffer, bytes, this.buffer / 2, bytes), Stage::source,
				new IntakeLanes(this.dispatcher), new ByteBudget(bytes, roomListener), new IntakeCounts(),
				TimeSource.SYSTEM, roomListener);
	}

	Circuits circuits() {
		return this.circuits;
	}

	Dispatcher<Delivery> dispatcher() {
		return this.dispatcher;
	}

	Settler settler() {
		return this.settler;
	}

}
