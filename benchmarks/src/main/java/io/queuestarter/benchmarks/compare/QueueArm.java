package io.queuestarter.benchmarks.compare;

import java.util.Map;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

import io.queuestarter.QueueListener;

/**
 * The queue as applications use it.
 */
final class QueueArm implements Arm {

	private final String ordering;

	QueueArm(String ordering) {
		this.ordering = ordering;
	}

	/** Records that wait for a thread: the default, or twice what runs. */
	static int buffer(Scenario scenario) {
		return Math.max(1000, 2 * scenario.inFlight());
	}

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		return Application.start(App.class, records, probe,
				Map.of("kafka-queue.defaults.ordering", this.ordering, "kafka-queue.defaults.blocking.enabled",
						scenario.handlers().holdEvery() == 0, "kafka-queue.defaults.dispatch.max-in-flight",
						scenario.inFlight(), "kafka-queue.defaults.ledger.capacity", scenario.window(),
						"kafka-queue.defaults.buffer.max-records", buffer(scenario),
						"kafka-queue.defaults.buffer.max-size", "64MB", "kafka-queue.defaults.retry.local.max-attempts",
						Handlers.ATTEMPTS, "kafka-queue.defaults.dlq.budget.patience", "1s",
						"kafka-queue.defaults.shutdown.drain-timeout", "1s"));
	}

	@EnableAutoConfiguration
	static class App {

		private final Probe probe;

		App(Probe probe) {
			this.probe = probe;
		}

		@QueueListener(id = "compared", topics = "${compared.topic}", groupId = "${compared.group}")
		void handle(byte[] value) throws InterruptedException {
			this.probe.handle(value);
		}

	}

}
