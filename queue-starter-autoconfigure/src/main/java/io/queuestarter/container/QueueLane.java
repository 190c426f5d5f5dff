package io.queuestarter.container;

import java.util.List;

import io.queuestarter.outage.CircuitState;
import io.queuestarter.settle.Outcomes;

/**
 * One lane of a queue as operators see it, read when it is asked for.
 * <em>Thread-safe.</em>
 */
public final class QueueLane {

	private final Queue queue;

	private final QueueEngine engine;

	private final int index;

	QueueLane(Queue queue, QueueEngine engine, int index) {
		this.queue = queue;
		this.engine = engine;
		this.index = index;
	}

	/**
	 * Name of the lane.
	 * @return the name
	 */
	public String name() {
		return this.engine.lane();
	}

	/**
	 * Records handled at this moment.
	 * @return the number
	 */
	public int inFlight() {
		return this.engine.dispatcher().inFlight();
	}

	/**
	 * Largest number of records handled at one time.
	 * @return the number
	 */
	public int limit() {
		return this.engine.settings().workers().maxInFlight();
	}

	/**
	 * Records that wait for a worker.
	 * @return the number
	 */
	public int buffered() {
		return this.engine.dispatcher().waiting();
	}

	/**
	 * Records that wait for the moment of their next attempt.
	 * @return the number
	 */
	public int retryWaiting() {
		return this.engine.retries().waiting();
	}

	/**
	 * Records fetched and not settled, as of the last look at the partitions.
	 * @return the number
	 */
	public int outstanding() {
		return this.queue.partitions()
			.stream()
			.mapToInt((partition) -> partition.outstandingByLane().get(this.index))
			.sum();
	}

	/**
	 * What became of the attempts so far.
	 * @return the counters
	 */
	public Outcomes outcomes() {
		return this.engine.outcomes();
	}

	/**
	 * State of the lane's circuit breakers and failure budgets.
	 * @return one state a circuit
	 */
	public List<CircuitState> circuitStates() {
		return this.queue.circuitStates(this.engine);
	}

}
