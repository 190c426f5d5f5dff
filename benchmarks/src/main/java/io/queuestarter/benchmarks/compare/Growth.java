package io.queuestarter.benchmarks.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * A scenario that is repeated with one number growing: no curve may be worse than linear.
 *
 * @param name short name
 * @param axis what grows
 * @param byTens whether it grows by tens
 * @param points the scenarios, by that number
 */
record Growth(String name, String axis, boolean byTens, List<Point> points) {

	private static final int WINDOW = 100_000;

	private static final Set<String> ARMS = Scenarios.arms(Arms.RAW, Arms.QUEUE, Arms.ENGINE);

	/** More of them than this ask for virtual threads. */
	private static final int PLATFORM_THREADS = 2000;

	static List<Growth> all() {
		return List.of(
				of("partitions", "partitions", true, List.of(1, 10, 100, 1000),
						(partitions) -> new Scenario("partitions-" + partitions, partitions + " partitions",
								Load.backlog(partitions, 500_000), Handlers.waiting(0), 100, 10_000, false, ARMS)),
				of("in-flight", "in flight", true,
						List.of(10, 100, 1000, 10_000, 100_000).stream().filter(Growth::isPossible).toList(), (
								inFlight) -> new Scenario("in-flight-" + inFlight, inFlight + " in flight, 10 ms",
										Load.backlog(4, Math.min(600_000, 300 * inFlight)), Handlers.waiting(10),
										inFlight, Math.max(10_000, inFlight), false,
										Scenarios.arms(Arms.QUEUE, Arms.ENGINE))),
				of("bytes", "bytes of a record", true, List.of(100, 1000, 10_000, 100_000, 1_000_000),
						(bytes) -> new Scenario("bytes-" + bytes, "records of " + bytes + " bytes",
								Load.backlog(1, Math.max(500, Math.min(200_000, 500_000_000 / bytes))).ofBytes(bytes),
								Handlers.waiting(0), 100, 10_000, false, ARMS)),
				of("window", "% of the window up to which one record after the other keeps it from being committed",
						false, List.of(0, 25, 50, 75, 100),
						(percent) -> new Scenario("window-" + percent, percent + " % of a window of " + WINDOW,
								Load.backlog(1, 20 * WINDOW),
								Handlers.waiting(0).holding(Math.max(Probe.SLACK, percent * WINDOW / 100)), 100, WINDOW,
								false, Scenarios.arms(Arms.QUEUE, Arms.ENGINE))));
	}

	static boolean contains(String name) {
		return all().stream().anyMatch((growth) -> growth.name().equals(name));
	}

	private static boolean isPossible(int inFlight) {
		return Workers.areVirtual() || inFlight <= PLATFORM_THREADS;
	}

	private static Growth of(String name, String axis, boolean byTens, List<Integer> numbers,
			IntFunction<Scenario> scenario) {
		List<Point> points = new ArrayList<>();
		numbers.forEach((number) -> points.add(new Point(number, scenario.apply(number))));
		return new Growth(name, axis, byTens, points);
	}

	/**
	 * One of the scenarios.
	 *
	 * @param number what has grown to how much
	 * @param scenario the scenario
	 */
	record Point(int number, Scenario scenario) {

	}

}
