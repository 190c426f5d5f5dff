package io.queuestarter.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.Queue;
import io.queuestarter.observe.Measure.Kind;
import io.queuestarter.outage.CircuitState;

/**
 * The meters of a queue. Each carries the tag {@code queue}, the id. Gauges over
 * partitions speak of the partitions assigned to this process.
 */
public enum QueueMeter {

	/** Records handled at this moment. */
	IN_FLIGHT("in.flight", Kind.GAUGE, "records", Queue::inFlight),

	/** Largest number of records handled at one time. */
	LIMIT("limit", Kind.GAUGE, "records", Queue::limit),

	/** Records fetched that wait for a thread. */
	BUFFERED("buffered", Kind.GAUGE, "records", Queue::buffered),

	/** Records that wait for others in front of them, by the ordering. */
	TURN_WAITING("turn.waiting", Kind.GAUGE, "records", Queue::waitingForTurn),

	/** Size of all records fetched and not settled. */
	BUFFERED_BYTES("buffered.size", Kind.GAUGE, "bytes", Queue::bufferedBytes),

	/** Records that wait for the moment of their next attempt. */
	RETRY_WAITING("retry.waiting", Kind.GAUGE, "records", Queue::retryWaiting),

	/** Records of the log that are not committed: end minus committed offset. */
	LAG("lag", Kind.GAUGE, "records", sum((partition) -> Math.max(0, partition.lag()))),

	/** Records fetched and not settled. */
	OUTSTANDING("outstanding", Kind.GAUGE, "records", sum(PartitionView::outstanding)),

	/** Largest share of a partition's window that is in use, from 0 to 1. */
	LEDGER_FILL("ledger.fill", Kind.GAUGE, "ratio", max(PartitionView::fill)),

	/** Longest commit metadata of a partition; the broker takes 4,096 characters. */
	LEDGER_METADATA("ledger.metadata.bytes", Kind.GAUGE, "bytes",
			max((partition) -> partition.commit().metadataLength())),

	/** Partitions whose commit metadata had no room for all settled offsets. */
	LEDGER_TRUNCATED("ledger.truncated", Kind.GAUGE, "partitions",
			(queue) -> queue.partitions().stream().filter((partition) -> partition.commit().truncated()).count()),

	/** Shortest time until a broker may delete a record that holds a watermark. */
	RETENTION_LEFT("retention.left", Kind.GAUGE, "seconds", QueueMeter::secondsLeft),

	/** Largest age of a record that holds a watermark. */
	HEAD_AGE("head.age", Kind.GAUGE, "seconds", (queue) -> queue.headAge().toMillis() / 1000.0),

	/** Partitions assigned to this process. */
	PARTITIONS("partitions", Kind.GAUGE, "partitions", (queue) -> queue.partitions().size()),

	/** Partitions that their bounds keep from being fetched. */
	PAUSED("paused", Kind.GAUGE, "partitions",
			(queue) -> queue.partitions().stream().filter(PartitionView::paused).count()),

	/** Records taken in again that a handler had been called with before. */
	REDELIVERED("redelivered", Kind.COUNTER, "records", (queue) -> queue.intakeCounts().redelivered()),

	/** Records taken in whose zone is not that of this process. */
	ZONE_OTHER("zone.other", Kind.COUNTER, "records", (queue) -> queue.intakeCounts().otherZone()),

	/** Failed attempts that another attempt follows. */
	RETRIES("retries", Kind.COUNTER, "attempts", (queue) -> queue.outcomes().retriedCount()),

	/** Attempts that ended by their deadline. */
	TIMEOUTS("timeouts", Kind.COUNTER, "attempts", (queue) -> queue.outcomes().timedOutCount()),

	/** Answers that came too late and changed nothing. */
	LATE("late", Kind.COUNTER, "attempts", (queue) -> queue.outcomes().lateCount()),

	/** Attempts cut off by a rebalance or stop; their records are delivered again. */
	ABANDONED("abandoned", Kind.COUNTER, "attempts", (queue) -> queue.outcomes().abandonedCount()),

	/** Records that retention deleted before they were fetched. */
	RETENTION_LOST("retention.lost", Kind.COUNTER, "records", (queue) -> queue.intakeCounts().lostToRetention()),

	/** Handlers that ignore that they were cancelled, and whose places others have. */
	LEAKED("leaked", Kind.GAUGE, "handlers", Queue::leaked),

	/** Records moved aside because they held a watermark. */
	CANCELLED("hol.cancelled", Kind.COUNTER, "records", (queue) -> queue.outcomes().cancelledCount()),

	/** Circuits whose breaker lets no attempt pass. */
	CIRCUITS_OPEN("circuits.open", Kind.GAUGE, "circuits", (queue) -> open(queue.circuitStates())),

	/** Records that may be given up now, of the circuit that may give up least. */
	DLQ_BUDGET("dlq.budget", Kind.GAUGE, "records",
			(queue) -> queue.circuitStates().stream().mapToLong(CircuitState::budget).min().orElse(0)),

	/** Records that wait to be written to the dead-letter topic. */
	DLQ_WAITING("dlq.waiting", Kind.GAUGE, "records", Queue::deadLettersWaiting),

	/** Writes to the dead-letter topic that failed; each is repeated. */
	DLQ_PUBLISH_FAILURES("dlq.publish.failures", Kind.COUNTER, "writes", Queue::deadLetterFailures);

	private final Measure<Queue> measure;

	QueueMeter(String name, Kind kind, String unit, ToDoubleFunction<Queue> value) {
		this.measure = new Measure<>("kafka.queue." + name, kind, unit, value);
	}

	/**
	 * Name of the meter.
	 * @return lower case with dots
	 */
	public String meterName() {
		return this.measure.name();
	}

	Measure<Queue> measure() {
		return this.measure;
	}

	static long open(Collection<CircuitState> circuits) {
		return circuits.stream().filter((circuit) -> circuit.state().endsWith("OPEN")).count();
	}

	/** Not a number if nothing unsettled is deleted by its age. */
	private static double secondsLeft(Queue queue) {
		Instant now = Instant.now();
		return queue.partitions()
			.stream()
			.map(PartitionView::expiry)
			.filter(Objects::nonNull)
			.mapToDouble((expiry) -> Duration.between(now, expiry).toMillis() / 1000.0)
			.min()
			.orElse(Double.NaN);
	}

	private static ToDoubleFunction<Queue> sum(ToLongFunction<PartitionView> part) {
		return (queue) -> queue.partitions().stream().mapToLong(part).sum();
	}

	private static ToDoubleFunction<Queue> max(ToDoubleFunction<PartitionView> part) {
		return (queue) -> queue.partitions().stream().mapToDouble(part).max().orElse(0);
	}

}
