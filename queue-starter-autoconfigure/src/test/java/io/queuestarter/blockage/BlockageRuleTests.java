package io.queuestarter.blockage;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BlockageRuleTests {

	@Test
	void U10_windowMustBeNearlyFull() {
		BlockageRule rule = rule(0);

		assertThat(rule.isBlocked(1000, 900, 899)).isFalse();
		assertThat(rule.isBlocked(1000, 901, 900)).isTrue();
	}

	@Test
	void U10_nearlyAllMustBeSettled() {
		BlockageRule rule = rule(0);

		assertThat(rule.isBlocked(1000, 950, 931)).as("exactly 0.98").isFalse();
		assertThat(rule.isBlocked(1000, 950, 932)).isTrue();
		assertThat(rule.isBlocked(1000, 950, 950)).as("nothing holds").isFalse();
	}

	@Test
	void fewHoldersBlockWhateverTheirShare() {
		BlockageRule rule = rule(10);

		assertThat(rule.isBlocked(100, 95, 85)).isTrue();
		assertThat(rule.isBlocked(100, 95, 84)).isFalse();
	}

	private static BlockageRule rule(int holders) {
		return new BlockageRule(true, 0.9, 0.98, holders, Duration.ofMinutes(5), 10);
	}

}
