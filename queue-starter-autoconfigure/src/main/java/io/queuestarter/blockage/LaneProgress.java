package io.queuestarter.blockage;

import io.queuestarter.settle.Settler;

/**
 * One lane of a queue: who ends its records, and whether it goes on at all. <em>Consumer
 * thread only.</em>
 */
public final class LaneProgress {

	private final Settler settler;

	private final long patienceNanos;

	private long acknowledged;

	private long sinceNanos;

	/**
	 * Creates a lane.
	 * @param settler ends its records
	 * @param patienceNanos time without a success after which the lane counts as jammed
	 * @param nowNanos the time
	 */
	public LaneProgress(Settler settler, long patienceNanos, long nowNanos) {
		this.settler = settler;
		this.patienceNanos = patienceNanos;
		this.acknowledged = settler.acknowledged();
		this.sinceNanos = nowNanos;
	}

	/** One that has nothing to do goes on: its patience begins with its next record. */
	void look(boolean idle, long nowNanos) {
		long current = this.settler.acknowledged();
		if (idle || current != this.acknowledged) {
			this.acknowledged = current;
			this.sinceNanos = nowNanos;
		}
	}

	boolean isJammed(long nowNanos) {
		return nowNanos - this.sinceNanos >= this.patienceNanos;
	}

	Settler settler() {
		return this.settler;
	}

}
