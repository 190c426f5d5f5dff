package io.queuestarter.retry;

import java.time.Duration;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

class BackoffTests {

	@Test
	void largestDelayGrowsByTheMultiplierUpToTheMaximum() {
		Backoff backoff = new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(1), () -> 1);

		assertThat(backoff.after(1)).isEqualTo(Duration.ofMillis(100));
		assertThat(backoff.after(2)).isEqualTo(Duration.ofMillis(200));
		assertThat(backoff.after(4)).isEqualTo(Duration.ofMillis(800));
		assertThat(backoff.after(5)).isEqualTo(Duration.ofSeconds(1));
		assertThat(backoff.after(Integer.MAX_VALUE)).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void delayIsARandomPartOfTheLargest() {
		SplittableRandom random = Seeds.random("BackoffTests");
		Backoff backoff = new Backoff(Duration.ofMillis(100), 3, Duration.ofSeconds(5), random::nextDouble);

		for (int failed = 1; failed < 1_000; failed++) {
			assertThat(backoff.after(failed)).isBetween(Duration.ZERO, Duration.ofSeconds(5));
		}
		for (int i = 0; i < 1_000; i++) {
			assertThat(backoff.after(1)).isBetween(Duration.ZERO, Duration.ofMillis(100));
		}
	}

	@Test
	void jitterSpreadsTheDelays() {
		assertThat(new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(1), () -> 0).after(3)).isZero();
		assertThat(new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(1), () -> 0.25).after(3))
			.isEqualTo(Duration.ofMillis(100));
	}

	@Test
	void zeroRetriesAtOnceWhateverTheAttempt() {
		Backoff backoff = new Backoff(Duration.ZERO, 10, Duration.ofSeconds(1), () -> 1);

		assertThat(backoff.after(1)).isZero();
		assertThat(backoff.after(Integer.MAX_VALUE)).isZero();
	}

	@Test
	void multiplierOfOneKeepsTheDelay() {
		Backoff backoff = new Backoff(Duration.ofMillis(100), 1, Duration.ofSeconds(1), () -> 1);

		assertThat(backoff.after(100)).isEqualTo(Duration.ofMillis(100));
	}

	@Test
	void initialDelayIsCappedToo() {
		Backoff backoff = new Backoff(Duration.ofSeconds(10), 2, Duration.ofSeconds(1), () -> 1);

		assertThat(backoff.after(1)).isEqualTo(Duration.ofSeconds(1));
	}

}
