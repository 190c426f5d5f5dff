package io.queuestarter.delivery;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class AttemptTimeoutTests {

	@Test
	void U19_timeoutGrowsWithEachTimeoutUpToItsMaximum() {
		AttemptTimeout timeout = new AttemptTimeout(Duration.ofSeconds(600), 2, Duration.ofMinutes(30));

		assertThat(timeout.nanosAfter(0)).isEqualTo(Duration.ofSeconds(600).toNanos());
		assertThat(timeout.nanosAfter(1)).isEqualTo(Duration.ofSeconds(1200).toNanos());
		assertThat(timeout.nanosAfter(2)).isEqualTo(Duration.ofSeconds(1800).toNanos());
		assertThat(timeout.nanosAfter(1000)).isEqualTo(Duration.ofSeconds(1800).toNanos());
	}

}
