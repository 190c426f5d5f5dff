package io.queuestarter.benchmarks.compare;

import java.util.ArrayList;
import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What the arms did in a scenario: their measurements, one a round.
 *
 * @param scenario the scenario
 * @param rounds measurements by arm
 */
record Result(Scenario scenario, Map<String, List<Measurement>> rounds) {

	Result(Scenario scenario, Collection<String> arms) {
		this(scenario, new LinkedHashMap<>());
		arms.forEach((arm) -> this.rounds.put(arm, new ArrayList<>()));
	}

	void add(String arm, Measurement measurement) {
		this.rounds.computeIfAbsent(arm, (name) -> new ArrayList<>()).add(measurement);
	}

	/** Median of the rounds. */
	double median(String arm, ToDoubleFunction<Measurement> figure) {
		double[] sorted = this.rounds.getOrDefault(arm, List.of()).stream().mapToDouble(figure).sorted().toArray();
		return (sorted.length > 0) ? (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2 : Double.NaN;
	}

	/** How far the rounds lie from the middle of them, as a part of the median. */
	double spread(String arm, ToDoubleFunction<Measurement> figure) {
		DoubleSummaryStatistics all = this.rounds.getOrDefault(arm, List.of())
			.stream()
			.mapToDouble(figure)
			.summaryStatistics();
		return (all.getMax() - all.getMin()) / 2 / median(arm, figure);
	}

	/** The arm's rate as a part of another arm's. */
	double ratio(String arm, String other) {
		return median(arm, Measurement::rate) / median(other, Measurement::rate);
	}

	/**
	 * The arm's rate as a part of the Parallel Consumer's, of the faster one if it ran
	 * with two settings.
	 */
	double ratioToParallel(String arm) {
		return median(arm, Measurement::rate) / Math.max(rate(Arms.PARALLEL), rate(Arms.PARALLEL_DEFAULTS));
	}

	private double rate(String arm) {
		return this.rounds.getOrDefault(arm, List.of()).isEmpty() ? Double.NEGATIVE_INFINITY
				: median(arm, Measurement::rate);
	}

	long lost(String arm) {
		return this.rounds.getOrDefault(arm, List.of()).stream().mapToLong(Measurement::lost).sum();
	}

	long duplicates(String arm) {
		return this.rounds.getOrDefault(arm, List.of()).stream().mapToLong(Measurement::duplicates).sum();
	}

	boolean isComplete(String arm) {
		List<Measurement> measurements = this.rounds.getOrDefault(arm, List.of());
		return !measurements.isEmpty() && measurements.stream().allMatch(Measurement::isComplete);
	}

}
