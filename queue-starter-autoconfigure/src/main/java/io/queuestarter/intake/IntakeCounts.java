package io.queuestarter.intake;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what all consumers of a queue noticed of the records they polled, since the
 * queue was created. <em>Thread-safe.</em>
 */
public final class IntakeCounts {

	private final LongAdder redelivered = new LongAdder();

	private final LongAdder skipped = new LongAdder();

	private final LongAdder otherZone = new LongAdder();

	private final LongAdder lostToRetention = new LongAdder();

	void redelivered(int records) {
		this.redelivered.add(records);
	}

	void skipped(int records) {
		this.skipped.add(records);
	}

	/**
	 * Records settled without being handled, because another consumer group serves their
	 * lane.
	 * @return the number
	 */
	public long skipped() {
		return this.skipped.sum();
	}

	void otherZone(int records) {
		this.otherZone.add(records);
	}

	/**
	 * Records taken in whose zone is another than that of this process.
	 * @return the number
	 */
	public long otherZone() {
		return this.otherZone.sum();
	}

	/**
	 * Records were deleted before they were fetched.
	 * @param records how many
	 */
	public void lost(long records) {
		this.lostToRetention.add(records);
	}

	/**
	 * Records that retention deleted before this process fetched them.
	 * @return the number
	 */
	public long lostToRetention() {
		return this.lostToRetention.sum();
	}

	/**
	 * Records taken in although a handler had been called with them before, as far as the
	 * last commit of the partition's owner before tells. What ran for the first time
	 * after the last commit of an owner that crashed is not known to it.
	 * @return the number
	 */
	public long redelivered() {
		return this.redelivered.sum();
	}

}
