package io.queuestarter.container;

import java.util.SplittableRandom;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Seeds;

/**
 * Many lives of partitions that a seed makes up: rebalances, crashes, failed commits,
 * lost tails; each step is compared with a naive model. {@code -Dqueue.life=<seed>}
 * repeats one life.
 */
@Tag("faults")
class PartitionLifeSimulationTests {

	private static final int STEPS = 2_000;

	private final LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());

	@BeforeEach
	void silence() {
		this.logging.setLogLevel("io.queuestarter.container", LogLevel.OFF);
	}

	@AfterEach
	void speak() {
		this.logging.setLogLevel("io.queuestarter.container", null);
	}

	@Test
	void nothingIsLostAndWhatIsCommittedStaysSettled() {
		SplittableRandom random = Seeds.random("PartitionLifeSimulationTests");
		Long life = Long.getLong("queue.life");
		int lives = (life != null) ? 1 : Effort.of(150, 5_000);
		for (int i = 0; i < lives; i++) {
			new Simulation((life != null) ? life : random.nextLong()).run(STEPS);
		}
	}

}
