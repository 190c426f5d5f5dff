package io.queuestarter.outage;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TokenWindowTests {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private static final long MINUTE = 60 * SECOND;

	private final TokenWindow tokens = new TokenWindow(MINUTE, 1, 0);

	@Test
	void U17_freeTokenIsThereOnce() {
		assertThat(this.tokens.tryTake(0)).isTrue();
		assertThat(this.tokens.tryTake(SECOND)).isFalse();
	}

	@Test
	void freeTokenComesBackWhenItsUseHasLeftTheWindow() {
		this.tokens.tryTake(0);

		assertThat(this.tokens.tryTake(MINUTE - 1)).isFalse();
		assertThat(this.tokens.tryTake(MINUTE + SECOND)).isTrue();
	}

	@Test
	void U17_everySuccessEarnsOneToken() {
		this.tokens.tryTake(0);
		this.tokens.earn();

		assertThat(this.tokens.tryTake(SECOND)).isTrue();
		assertThat(this.tokens.tryTake(SECOND)).isFalse();
	}

	@Test
	void U16_tokenOlderThanTheWindowIsGone() {
		this.tokens.earn();
		this.tokens.book(0);

		assertThat(this.tokens.available(MINUTE - 1)).isEqualTo(2);
		assertThat(this.tokens.available(MINUTE + SECOND)).isOne();
	}

	@Test
	void U16_neverMoreTokensThanTheWindowHolds() {
		for (long second = 0; second < 1_000; second++) {
			this.tokens.earn();
			assertThat(this.tokens.available(second * SECOND)).isLessThanOrEqualTo(61);
		}
		assertThat(this.tokens.available(999 * SECOND)).isEqualTo(61);
	}

	@Test
	void U12_tokenNotNeededIsGivenBack() {
		this.tokens.tryTake(0);

		this.tokens.refund();

		assertThat(this.tokens.tryTake(SECOND)).isTrue();
	}

}
