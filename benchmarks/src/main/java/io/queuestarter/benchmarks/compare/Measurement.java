package io.queuestarter.benchmarks.compare;

/**
 * What one arm did in one round.
 *
 * @param rate records handled without a failure, a second
 * @param cpuMicros processor time a record, in microseconds
 * @param bytes bytes allocated a record
 * @param p50Millis median time from the intended send time to the handler's start
 * @param p99Millis 99th percentile of it
 * @param maxMillis the longest
 * @param idleCores cores in use without records
 * @param lost records that were never handled
 * @param duplicates records that were handled once more
 * @param committed whether the group's offsets came to the end of the topic
 */
record Measurement(double rate, double cpuMicros, double bytes, double p50Millis, double p99Millis, double maxMillis,
		double idleCores, long lost, long duplicates, boolean committed) {

	boolean isComplete() {
		return this.lost == 0 && this.committed;
	}

}
