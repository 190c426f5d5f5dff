package io.queuestarter.observe;

import java.util.function.ToDoubleFunction;

import org.jspecify.annotations.Nullable;

import io.queuestarter.container.QueueLane;

/**
 * The meters of a lane, for queues that have lanes. Each carries the tags {@code queue},
 * the id, and {@code lane}, the name of a lane that is served here: never what a header
 * says.
 */
public enum LaneMeter {

	/** Records of the lane handled at this moment. */
	IN_FLIGHT("in.flight", false, "records", QueueLane::inFlight),

	/** Largest number of its records handled at one time. */
	LIMIT("limit", false, "records", QueueLane::limit),

	/** Its records fetched that wait for a thread. */
	BUFFERED("buffered", false, "records", QueueLane::buffered),

	/** Its records that wait for the moment of their next attempt. */
	RETRY_WAITING("retry.waiting", false, "records", QueueLane::retryWaiting),

	/** Its records fetched and not settled. */
	OUTSTANDING("outstanding", false, "records", QueueLane::outstanding),

	/** Its records settled by their handler. */
	ACKED("acked", true, "records", (lane) -> lane.outcomes().acknowledgedCount()),

	/** Its failed attempts that another attempt follows. */
	RETRIES("retries", true, "attempts", (lane) -> lane.outcomes().retriedCount()),

	/** Its attempts that ended by their deadline. */
	TIMEOUTS("timeouts", true, "attempts", (lane) -> lane.outcomes().timedOutCount()),

	/** Its circuits whose breaker lets no attempt pass. */
	CIRCUITS_OPEN("circuits.open", false, "circuits", (lane) -> QueueMeter.open(lane.circuitStates()));

	private final String name;

	private final boolean counter;

	private final String unit;

	private final ToDoubleFunction<QueueLane> value;

	LaneMeter(String name, boolean counter, String unit, ToDoubleFunction<QueueLane> value) {
		this.name = "kafka.queue.lane." + name;
		this.counter = counter;
		this.unit = unit;
		this.value = value;
	}

	/**
	 * Name of the meter.
	 * @return lower case with dots
	 */
	public String meterName() {
		return this.name;
	}

	boolean isCounter() {
		return this.counter;
	}

	String unit() {
		return this.unit;
	}

	double valueOf(@Nullable QueueLane lane) {
		return (lane != null) ? this.value.applyAsDouble(lane) : 0;
	}

}
