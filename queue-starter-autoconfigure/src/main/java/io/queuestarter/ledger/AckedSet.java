package io.queuestarter.ledger;

/**
 * What the owners of a partition have done with it above a watermark, as far as its
 * commit metadata tells.
 *
 * @param settled offsets at or above the watermark that are settled
 * @param begun offset behind the highest record that a handler was called with; records
 * below it that are not settled run again
 */
public record AckedSet(OffsetRanges settled, long begun) {

	/**
	 * Nothing is known.
	 */
	public static final AckedSet EMPTY = new AckedSet(OffsetRanges.EMPTY, 0);

	/**
	 * What is known below an offset.
	 * @param offset an offset
	 * @return this without what lies at or above the offset
	 */
	public AckedSet below(long offset) {
		return new AckedSet(this.settled.below(offset), Math.min(this.begun, offset));
	}

}
