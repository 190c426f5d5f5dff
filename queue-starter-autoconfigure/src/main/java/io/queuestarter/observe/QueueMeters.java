package io.queuestarter.observe;

import java.time.Duration;
import java.util.Locale;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueLane;
import io.queuestarter.container.Queues;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.Destination.Kind;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobAction;
import io.queuestarter.jobs.JobTotals;

/**
 * Registers the meters of every queue. See {@link QueueMeter} and {@link LaneMeter};
 * besides there is {@value #RECORDS}, a counter of settled records by {@code outcome}
 * ({@code acked}, {@code dlq}, {@code retry_topic}, {@code parked}, {@code forwarded},
 * {@code skipped}) and {@code reason} (of a dead letter, else {@code none}), and
 * {@value #FINDINGS}, a gauge of partitions for which the doctor has a finding of a
 * {@code kind}. {@value #DLQ_DEPTH} and {@value #DLQ_OLDEST_AGE} are gauges of the dead
 * letters that are not resolved, as of the last sample; not a number before the first.
 * Every instance tells the same. {@value #JOBS_ACTIVE} is a gauge of the jobs of this
 * process that have not ended; {@value #JOB_RECORDS} counts the dead letters that jobs
 * took, by {@code action} and {@code result}.
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

	/**
	 * Name of the gauge of dead letters that are not resolved.
	 */
	public static final String DLQ_DEPTH = "kafka.queue.dlq.depth";

	/**
	 * Name of the gauge of the age of the oldest of them.
	 */
	public static final String DLQ_OLDEST_AGE = "kafka.queue.dlq.oldest.age";

	/**
	 * Name of the gauge of jobs that have not ended.
	 */
	public static final String JOBS_ACTIVE = "kafka.queue.jobs.active";

	/**
	 * Name of the counter of dead letters that jobs took.
	 */
	public static final String JOB_RECORDS = "kafka.queue.job.records";

	private final Queues queues;

	private final Doctor doctor;

	private final DeadLetterWatch deadLetters;

	private final DeadLetterJobs jobs;

	/**
	 * Creates a binder.
	 * @param queues the queues
	 * @param doctor who says what threatens them
	 * @param deadLetters who counts the dead letters that are not resolved
	 * @param jobs the jobs on dead letters
	 */
	public QueueMeters(Queues queues, Doctor doctor, DeadLetterWatch deadLetters, DeadLetterJobs jobs) {
		this.queues = queues;
		this.doctor = doctor;
		this.deadLetters = deadLetters;
		this.jobs = jobs;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		this.queues.forEach((queue) -> bind(queue, registry));
	}

	private void bind(Queue queue, MeterRegistry registry) {
		Tags tags = Tags.of("queue", queue.id());
		for (QueueMeter meter : QueueMeter.values()) {
			meter.measure().register(queue, tags, registry);
		}
		FunctionCounter.builder(RECORDS, queue, (current) -> current.outcomes().acknowledgedCount())
			.tags("queue", queue.id(), "outcome", "acked", "reason", "none")
			.register(registry);
		handedOver(queue, Kind.RETRY, "retry_topic", registry);
		handedOver(queue, Kind.PARK, "parked", registry);
		handedOver(queue, Kind.FORWARD, "forwarded", registry);
		FunctionCounter.builder(RECORDS, queue, Queue::skipped)
			.tags("queue", queue.id(), "outcome", "skipped", "reason", "none")
			.register(registry);
		for (DeadLetterReason reason : DeadLetterReason.values()) {
			FunctionCounter.builder(RECORDS, queue, (current) -> current.deadLettered(reason))
				.tags("queue", queue.id(), "outcome", "dlq", "reason", reason.tag())
				.register(registry);
		}
		Gauge.builder(DLQ_DEPTH, queue, this::depth).baseUnit("records").tag("queue", queue.id()).register(registry);
		Gauge.builder(DLQ_OLDEST_AGE, queue, this::oldestAge)
			.baseUnit("seconds")
			.tag("queue", queue.id())
			.register(registry);
		for (Finding.Kind kind : Finding.Kind.values()) {
			Gauge.builder(FINDINGS, queue, (current) -> found(current, kind))
				.baseUnit("partitions")
				.tags("queue", queue.id(), "kind", kind.tag())
				.register(registry);
		}
		bindJobs(queue.id(), registry);
		queue.servedLanes().forEach((lane) -> bind(lane, tags.and("lane", lane.name()), registry));
	}

	private static void bind(QueueLane lane, Tags tags, MeterRegistry registry) {
		for (LaneMeter meter : LaneMeter.values()) {
			meter.measure().register(lane, tags, registry);
		}
	}

	private void bindJobs(String queue, MeterRegistry registry) {
		Gauge.builder(JOBS_ACTIVE, this.jobs, (current) -> current.active(queue))
			.baseUnit("jobs")
			.tag("queue", queue)
			.register(registry);
		for (JobAction action : JobAction.values()) {
			for (JobTotals.Result result : JobTotals.Result.values()) {
				FunctionCounter
					.builder(JOB_RECORDS, this.jobs, (current) -> current.totals().count(queue, action, result))
					.baseUnit("records")
					.tags("queue", queue, "action", action.name().toLowerCase(Locale.ROOT), "result", result.tag())
					.register(registry);
			}
		}
	}

	private static void handedOver(Queue queue, Kind kind, String outcome, MeterRegistry registry) {
		FunctionCounter.builder(RECORDS, queue, (current) -> current.redirected(kind))
			.tags("queue", queue.id(), "outcome", outcome, "reason", "none")
			.register(registry);
	}

	private double depth(Queue queue) {
		Long depth = this.deadLetters.depth(queue);
		return (depth != null) ? depth : Double.NaN;
	}

	private double oldestAge(Queue queue) {
		Duration age = this.deadLetters.oldestAge(queue);
		return (age != null) ? age.toMillis() / 1000.0 : Double.NaN;
	}

	private long found(Queue queue, Finding.Kind kind) {
		return this.doctor.findings(queue).stream().filter((finding) -> finding.kind() == kind).count();
	}

}
