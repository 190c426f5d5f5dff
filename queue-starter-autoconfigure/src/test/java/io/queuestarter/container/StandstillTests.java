package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process stands still for a while or only stumbles, and workers or the timer are the
 * first to go on.
 */
class StandstillTests {

	private final ManualClock clock = new ManualClock();

	private final List<Long> paused = new ArrayList<>();

	private final Standstill standstill = new Standstill(this.clock,
			new WorkerThreads(Runnable::run, this.paused::add, () -> {
			}));

	@Test
	void nothingIsHeldWhileTicksCome() {
		for (int tick = 0; tick < 10; tick++) {
			this.clock.advance(Duration.ofNanos(Standstill.LIMIT_NANOS));
			assertThat(this.standstill.holdNanos()).isNotPositive();
			this.standstill.tick();
		}

		assertThat(this.standstill.holdNanos()).isNotPositive();
	}

	@Test
	void workersHoldIfTheyAreFirstToGoOn() {
		this.clock.advance(Duration.ofNanos(Standstill.LIMIT_NANOS + 1));

		assertThat(this.standstill.holdNanos()).isEqualTo(Standstill.HOLD_NANOS);
	}

	@Test
	void workersHoldForAWhileIfTheTimerIsFirstToGoOn() {
		this.clock.advance(Duration.ofNanos(Standstill.LIMIT_NANOS + 1));
		this.standstill.tick();

		assertThat(this.standstill.holdNanos()).isEqualTo(Standstill.HOLD_NANOS);
		this.clock.advance(Duration.ofNanos(Standstill.HOLD_NANOS));
		this.standstill.tick();
		assertThat(this.standstill.holdNanos()).isZero();
	}

	@Test
	void workersHoldOnceIfTheTimerHangs() {
		this.clock.advance(Duration.ofNanos(Standstill.LIMIT_NANOS + 1));

		this.standstill.hold();
		this.standstill.hold();

		assertThat(this.paused).containsExactly(Standstill.HOLD_NANOS);
	}

	@Test
	void aQueueThatStartsAgainHasNotStoodStill() {
		this.clock.advance(Duration.ofHours(1));

		this.standstill.restart();

		assertThat(this.standstill.holdNanos()).isZero();
		this.standstill.tick();
		assertThat(this.standstill.holdNanos()).isZero();
	}

}
