package io.queuestarter.testkit;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * Has Lincheck look for an interleaving of a class's operations whose results no
 * sequential run explains, or after which its validation fails.
 */
public final class Interleavings {

	private static final int SCENARIOS = Effort.of(5, 200);

	private static final int FEW_SCENARIOS = Effort.of(2, 200);

	private static final int INVOCATIONS = Effort.of(200, 10_000);

	private static final int THREADS = 3;

	private static final int OPERATIONS = 3;

	private Interleavings() {
	}

	/** Tries schedules one by one, in a sequentially consistent memory. */
	public static void explore(Class<?> operations) {
		explore(operations, SCENARIOS);
	}

	/** The same, with fewer scenarios in the normal run: for operations of many steps. */
	public static void exploreFew(Class<?> operations) {
		explore(operations, FEW_SCENARIOS);
	}

	private static void explore(Class<?> operations, int scenarios) {
		new ModelCheckingOptions().iterations(scenarios)
			.invocationsPerIteration(INVOCATIONS)
			.threads(THREADS)
			.actorsPerThread(OPERATIONS)
			.actorsBefore(1)
			.actorsAfter(1)
			.check(operations);
	}

	/** Runs the operations on real threads, with the memory of this machine. */
	public static void stress(Class<?> operations) {
		new StressOptions().iterations(SCENARIOS)
			.invocationsPerIteration(INVOCATIONS)
			.threads(THREADS)
			.actorsPerThread(OPERATIONS)
			.actorsBefore(1)
			.actorsAfter(1)
			.check(operations);
	}

}
