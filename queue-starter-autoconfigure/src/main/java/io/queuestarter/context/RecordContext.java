package io.queuestarter.context;

import java.util.List;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Where a record belongs. Decided once, when it is taken in, and kept with it.
 *
 * @param lane name of its lane
 * @param index number of the lane among those that are served here, or -1 if it is not
 * @param zone name of its zone, or {@code null} if it has none
 * @param remote whether that is another zone than that of this process
 * @param headers keys of the headers that tell lane and zone
 */
public record RecordContext(String lane, int index, @Nullable String zone, boolean remote, List<String> headers) {

	/**
	 * Lane of records that name none, unless another is set.
	 */
	public static final String DEFAULT_LANE = "default";

	/**
	 * Context of all records while no header is looked at.
	 */
	public static final RecordContext DEFAULT = new RecordContext(DEFAULT_LANE, 0, null, false, List.of());

	/**
	 * Whether this process handles records of the lane.
	 * @return {@code false} if none of them may reach a handler here
	 */
	public boolean isServed() {
		return this.index >= 0;
	}

	/**
	 * Whether headers tell the context, so that records can be sent with it.
	 * @return {@code false} if no header is looked at
	 */
	public boolean isTold() {
		return !this.headers.isEmpty();
	}

	/**
	 * Copies the headers that tell the context, with all their values, except those whose
	 * key is there already.
	 * @param from headers of a record of this context
	 * @param to headers of a record that is to be sent
	 */
	public void copy(Headers from, Headers to) {
		for (String key : this.headers) {
			if (to.lastHeader(key) == null) {
				for (Header header : from.headers(key)) {
					to.add(header);
				}
			}
		}
	}

	RecordContext in(@Nullable String recordZone, @Nullable String ownZone) {
		return (recordZone != null) ? new RecordContext(this.lane, this.index, recordZone,
				ownZone != null && !ownZone.equals(recordZone), this.headers) : this;
	}

}
