package io.queuestarter.context;

import org.jspecify.annotations.Nullable;

/**
 * Where a record belongs. Decided once, when it is taken in, and kept with it.
 *
 * @param lane name of its lane
 * @param index number of the lane among those that are served here, or -1 if it is not
 * @param zone name of its zone, or {@code null} if it has none
 * @param remote whether that is another zone than that of this process
 */
public record RecordContext(String lane, int index, @Nullable String zone, boolean remote) {

	/**
	 * Lane of records that name none, unless another is set.
	 */
	public static final String DEFAULT_LANE = "default";

	/**
	 * Context of all records while no header is looked at.
	 */
	public static final RecordContext DEFAULT = new RecordContext(DEFAULT_LANE, 0, null, false);

	/**
	 * Whether this process handles records of the lane.
	 * @return {@code false} if none of them may reach a handler here
	 */
	public boolean isServed() {
		return this.index >= 0;
	}

	RecordContext in(@Nullable String recordZone, @Nullable String ownZone) {
		return (recordZone != null)
				? new RecordContext(this.lane, this.index, recordZone, ownZone != null && !ownZone.equals(recordZone))
				: this;
	}

}
