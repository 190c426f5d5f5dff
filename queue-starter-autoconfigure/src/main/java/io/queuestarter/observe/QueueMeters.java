package io.queuestarter.observe;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.Destination.Kind;

/**
 * Registers the meters of every queue. See {@link QueueMeter}; besides there is
 * {@value #RECORDS}, a counter of settled records by {@code outcome} ({@code acked},
 * {@code dlq}) and {@code reason} (of a dead letter, else {@code none}), and
 * {@value #FINDINGS}, a gauge of partitions for which the doctor has a finding of a
 * {@code kind}.
 */
public final class QueueMeters implements MeterBinder {

	/**
	 * Name of the counter of settled records.
	 */
	public static final String RECORDS = "kafka.queue.records";

	/**
	 * Name of the gauge of what threatens a queue.
	 */
	public static final String FINDINGS = "kafka.queue.findings";

	private final Queues queues;

	private final Doctor doctor;

	/**
	 * Creates a binder.
	 * @param queues the queues
	 * @param doctor who says what threatens them
	 */
	public QueueMeters(Queues queues, Doctor doctor) {
		this.queues = queues;
		this.doctor = doctor;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		this.queues.forEach((queue) -> bind(queue, registry));
	}

	private void bind(Queue queue, MeterRegistry registry) {
		for (QueueMeter meter : QueueMeter.values()) {
			if (meter.isCounter()) {
				FunctionCounter.builder(meter.meterName(), queue, meter::valueOf)
					.baseUnit(meter.unit())
					.tag("queue", queue.id())
					.register(registry);
			}
			else {
				Gauge.builder(meter.meterName(), queue, meter::valueOf)
					.baseUnit(meter.unit())
					.tag("queue", queue.id())
					.register(registry);
			}
		}
		FunctionCounter.builder(RECORDS, queue, (current) -> current.outcomes().acknowledgedCount())
			.tags("queue", queue.id(), "outcome", "acked", "reason", "none")
			.register(registry);
		handedOver(queue, Kind.RETRY, "retry_topic", registry);
		handedOver(queue, Kind.PARK, "parked", registry);
		for (DeadLetterReason reason : DeadLetterReason.values()) {
			FunctionCounter.builder(RECORDS, queue, (current) -> current.deadLettered(reason))
				.tags("queue", queue.id(), "outcome", "dlq", "reason", reason.tag())
				.register(registry);
		}
		for (Finding.Kind kind : Finding.Kind.values()) {
			Gauge.builder(FINDINGS, queue, (current) -> found(current, kind))
				.baseUnit("partitions")
				.tags("queue", queue.id(), "kind", kind.tag())
				.register(registry);
		}
	}

	private static void handedOver(Queue queue, Kind kind, String outcome, MeterRegistry registry) {
		FunctionCounter.builder(RECORDS, queue, (current) -> current.redirected(kind))
			.tags("queue", queue.id(), "outcome", outcome, "reason", "none")
			.register(registry);
	}

	private long found(Queue queue, Finding.Kind kind) {
		return this.doctor.findings(queue).stream().filter((finding) -> finding.kind() == kind).count();
	}

}
