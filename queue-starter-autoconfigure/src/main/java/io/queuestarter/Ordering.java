package io.queuestarter;

/**
 * Which records of a queue wait for which.
 * <p>
 * What waits, waits for the record in front to be over: handled, dead-lettered, or
 * written to a retry or park topic. So a record that fails is tried again in its place,
 * and those behind it come before its later attempts only if it leaves for another topic.
 * A record that comes back from there, or is merged, keeps the order of the topic that it
 * comes back from. Once a partition is given up, its records run again in order, after
 * the handlers that still run for it have returned. A handler that ignores that it was
 * cancelled is waited for as long as its place is kept ({@code timeout.grace}), and no
 * longer.
 *
 * @since 0.1.0
 */
public enum Ordering {

	/**
	 * No record waits for another: as many run at one time as {@code max-in-flight}
	 * allows.
	 */
	UNORDERED,

	/**
	 * Records of one partition with the same key run one after the other, in the order of
	 * their offsets; those of different keys run at one time. Keys are the same if their
	 * bytes are. Records without a key wait for none.
	 */
	KEY,

	/**
	 * Records of one partition run one after the other, in the order of their offsets;
	 * partitions run at one time.
	 */
	PARTITION

}
