package io.queuestarter.observe;

import java.util.function.ToDoubleFunction;

import io.queuestarter.container.QueueLane;
import io.queuestarter.observe.Measure.Kind;

/**
 * The meters of a lane, for queues that have lanes. Each carries the tags {@code queue},
 * the id, and {@code lane}, the name of a lane that is served here: never what a header
 * says.
 */
public enum LaneMeter {

	/** Records of the lane handled at this moment. */
	IN_FLIGHT("in.flight", Kind.GAUGE, "records", QueueLane::inFlight),

	/** Largest number of its records handled at one time. */
	LIMIT("limit", Kind.GAUGE, "records", QueueLane::limit),

	/** Its records fetched that wait for a thread. */
	BUFFERED("buffered", Kind.GAUGE, "records", QueueLane::buffered),

	/** Its records that wait for the moment of their next attempt. */
	RETRY_WAITING("retry.waiting", Kind.GAUGE, "records", QueueLane::retryWaiting),

	/** Its records fetched and not settled. */
	OUTSTANDING("outstanding", Kind.GAUGE, "records", QueueLane::outstanding),

	/** Its records settled by their handler. */
	ACKED("acked", Kind.COUNTER, "records", (lane) -> lane.outcomes().acknowledgedCount()),

	/** Its failed attempts that another attempt follows. */
	RETRIES("retries", Kind.COUNTER, "attempts", (lane) -> lane.outcomes().retriedCount()),

	/** Its attempts that ended by their deadline. */
	TIMEOUTS("timeouts", Kind.COUNTER, "attempts", (lane) -> lane.outcomes().timedOutCount()),

	/** Its circuits whose breaker lets no attempt pass. */
	CIRCUITS_OPEN("circuits.open", Kind.GAUGE, "circuits", (lane) -> QueueMeter.open(lane.circuitStates()));

	private final Measure<QueueLane> measure;

	LaneMeter(String name, Kind kind, String unit, ToDoubleFunction<QueueLane> value) {
		this.measure = new Measure<>("kafka.queue.lane." + name, kind, unit, value);
	}

	/**
	 * Name of the meter.
	 * @return lower case with dots
	 */
	public String meterName() {
		return this.measure.name();
	}

	Measure<QueueLane> measure() {
		return this.measure;
	}

}
