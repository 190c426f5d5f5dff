package io.queuestarter.benchmarks.compare;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

/**
 * Keys of a backlog's records.
 *
 * @param count how many keys there are
 * @param exponent exponent of the Zipf distribution that they are drawn from; 0 if all
 * take turns
 * @param hot whether every second record has one further key, and nobody waits for the
 * end of those
 */
record Keys(int count, double exponent, boolean hot) {

	/** All the same number of records, spread over the partitions by their number. */
	static final Keys EVEN = new Keys(1000, 0, false);

	/**
	 * Exponent of YCSB (Cooper et al., "Benchmarking Cloud Serving Systems with YCSB",
	 * 2010).
	 */
	private static final double YCSB = 0.99;

	static Keys zipf(int count) {
		return new Keys(count, YCSB, false);
	}

	/** Whether nobody waits for the end of a record. */
	boolean isAside(int number) {
		return this.hot && number % 2 == 1;
	}

	/** The key of each record, by its number. */
	IntUnaryOperator byNumber() {
		if (this.exponent == 0) {
			return this.hot ? (number) -> isAside(number) ? this.count : number / 2 % this.count
					: (number) -> number % this.count;
		}
		double[] limits = weights();
		Arrays.parallelPrefix(limits, Double::sum);
		return (number) -> {
			int found = Arrays.binarySearch(limits, part(number) * limits[this.count - 1]);
			return Math.min((found < 0) ? -found - 1 : found, this.count - 1);
		};
	}

	private double[] weights() {
		double[] weights = new double[this.count];
		Arrays.setAll(weights, (key) -> Math.pow(key + 1.0, -this.exponent));
		return weights;
	}

	/** Between 0 and 1, as if by chance, but the same in each run. */
	private static double part(int number) {
		return new SplittableRandom(number).nextDouble();
	}

}
