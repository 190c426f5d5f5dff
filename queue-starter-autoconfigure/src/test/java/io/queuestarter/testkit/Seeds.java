package io.queuestarter.testkit;

import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Randomness of tests. Each test prints its seed; {@code -Dqueue.seed=<seed>} repeats a
 * run.
 */
public final class Seeds {

	private static final Logger LOGGER = LoggerFactory.getLogger(Seeds.class);

	private Seeds() {
	}

	public static SplittableRandom random(String test) {
		long seed = Long.getLong("queue.seed", ThreadLocalRandom.current().nextLong());
		LOGGER.info("{} runs with -Dqueue.seed={}", test, seed);
		return new SplittableRandom(seed);
	}

}
