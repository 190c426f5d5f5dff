package io.queuestarter.benchmarks.compare;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The scenarios that there are.
 */
final class Scenarios {

	private static final int WINDOW = 10_000;

	private static final Handlers NO_WAIT = Handlers.waiting(0);

	private static final Set<String> ALL = arms(Arms.RAW, Arms.LISTENER, Arms.PARALLEL, Arms.PARALLEL_DEFAULTS,
			Arms.PARALLEL_KEY, Arms.SHARE, Arms.QUEUE, Arms.QUEUE_KEY, Arms.ENGINE);

	private static final Set<String> PARALLEL = arms(Arms.PARALLEL, Arms.PARALLEL_DEFAULTS, Arms.SHARE, Arms.QUEUE,
			Arms.ENGINE);

	/** Arms that leave others alone while one record is slow or fails. */
	private static final Set<String> SINGLE = arms(Arms.PARALLEL, Arms.SHARE, Arms.QUEUE);

	/** Arms that do not wait for a backlog; a large buffer lets records wait in it. */
	private static final Set<String> LATENCY = arms(Arms.PARALLEL, Arms.PARALLEL_DEFAULTS, Arms.SHARE, Arms.QUEUE);

	/** Arms that keep the order of a key, and two that do not. */
	private static final Set<String> ORDERED = arms(Arms.PARALLEL, Arms.PARALLEL_KEY, Arms.QUEUE, Arms.QUEUE_KEY);

	private Scenarios() {
	}

	static Set<String> arms(String... names) {
		return new LinkedHashSet<>(Arrays.asList(names));
	}

	static boolean contains(String name) {
		return all().stream().anyMatch((scenario) -> scenario.name().equals(name));
	}

	static List<Scenario> all() {
		return List.of(
				new Scenario("B", "10 ms, 1,000 in flight, 1 partition", Load.backlog(1, 400_000), Handlers.waiting(10),
						1000, WINDOW, false, PARALLEL),
				new Scenario("D", "10 ms, 1 in 1,000 takes 2 s, 200 in flight, 1 partition", Load.backlog(1, 150_000),
						Handlers.waiting(10).slow(1000, 2000), 200, 50_000, false, PARALLEL),
				new Scenario("E", "1 ms, 250 in flight, 4 partitions", Load.backlog(4, 500_000), Handlers.waiting(1),
						250, WINDOW, false, PARALLEL),
				new Scenario("C", "10 ms, 5,000 in flight, 4 partitions", Load.backlog(4, 1_000_000),
						Handlers.waiting(10), 5000, WINDOW, false, PARALLEL),
				new Scenario("A", "handlers that do nothing, 1 partition", Load.backlog(1, 1_000_000), NO_WAIT, 100,
						WINDOW, false, ALL),
				new Scenario("A-source", "handlers that do nothing, 1 partition, records without a broker",
						Load.backlog(1, 2_000_000).withoutBroker(), NO_WAIT, 100, WINDOW, false,
						arms(Arms.RAW, Arms.LISTENER, Arms.PARALLEL, Arms.PARALLEL_KEY, Arms.QUEUE, Arms.ENGINE)),
				new Scenario("F-sound", "10 ms, 200 in flight, 1 partition", Load.backlog(1, 150_000),
						Handlers.waiting(10), 200, WINDOW, false, SINGLE),
				new Scenario("F", "as F-sound, and 1 in 10 fails in each of 3 attempts", Load.backlog(1, 150_000),
						Handlers.waiting(10).failing(10), 200, WINDOW, false, SINGLE),
				new Scenario("G", "100 records a second, 1 partition", Load.backlog(1, 5000).paced(100, 10), NO_WAIT,
						100, WINDOW, true,
						arms(Arms.RAW, Arms.LISTENER, Arms.PARALLEL, Arms.PARALLEL_DEFAULTS, Arms.SHARE, Arms.QUEUE,
								Arms.ENGINE)),
				new Scenario("I", "handlers that do nothing, 1,000 partitions", Load.backlog(1000, 1_000_000), NO_WAIT,
						100, WINDOW, false, arms(Arms.RAW, Arms.LISTENER, Arms.PARALLEL, Arms.QUEUE, Arms.ENGINE)),
				new Scenario("H-cold", "5 ms, 100 records a second in 3 partitions, 100 in flight",
						Load.backlog(4, 100).onHotPartition().paced(100, 8), Handlers.waiting(5), 100, WINDOW, false,
						LATENCY),
				new Scenario("H", "as H-cold, with 1,000,000 records in a fourth partition",
						Load.backlog(4, 1_000_000).onHotPartition().paced(100, 8), Handlers.waiting(5), 100, WINDOW,
						false, LATENCY),
				new Scenario("K", "1 ms, 250 in flight, 4 partitions, 1,000 keys by Zipf",
						Load.backlog(4, 100_000).keyed(Keys.zipf(1000)), Handlers.waiting(1), 250, WINDOW, false,
						ORDERED),
				new Scenario("K-many", "as K, with 100,000 keys", Load.backlog(4, 100_000).keyed(Keys.zipf(100_000)),
						Handlers.waiting(1), 250, WINDOW, false, ORDERED),
				new Scenario("K-even", "5 ms, 50 in flight, 4 partitions, 4,000 keys",
						Load.backlog(4, 60_000).keyed(new Keys(4000, 0, false)), Handlers.waiting(5), 50, 100_000,
						false, arms(Arms.PARALLEL_KEY, Arms.QUEUE_KEY)),
				new Scenario("K-hot", "as K-even, and as many records of one more key, which do not count",
						Load.backlog(4, 120_000).keyed(new Keys(4000, 0, true)), Handlers.waiting(5), 50, 100_000,
						false, arms(Arms.QUEUE_KEY)),
				new Scenario("Decaton-1", "10 ms, 20 in flight a partition, 3 partitions", Load.backlog(3, 100_000),
						Handlers.waiting(10), 60, WINDOW, false, SINGLE),
				new Scenario("Decaton-2", "handlers that do nothing, 20 in flight a partition, 3 partitions",
						Load.backlog(3, 1_000_000), NO_WAIT, 60, WINDOW, false, SINGLE),
				new Scenario("Decaton-3", "5 times 4 ms, 2,000 in flight, 3 partitions", Load.backlog(3, 100_000),
						Handlers.waiting(4).times(5), 2000, WINDOW, false, SINGLE),
				new Scenario("Decaton-4", "handlers that do nothing, 2,000 in flight, 3 partitions",
						Load.backlog(3, 1_000_000), NO_WAIT, 2000, WINDOW, false, SINGLE));
	}

}
