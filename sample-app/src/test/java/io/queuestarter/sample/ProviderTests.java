package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class ProviderTests {

	private final Provider visa = new Provider(Card.VISA, Duration.ZERO);

	@Test
	void changeOfLatencyReachesCallsUnderWay() {
		this.visa.set(Duration.ofMinutes(1), 0);
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> charge(Trip.FARE));
		await().until(() -> this.visa.state().running() == 1);

		this.visa.set(Duration.ZERO, 0);

		await().until(call::isDone);
		assertThat(call).isCompleted();
		assertThat(this.visa.state().running()).isZero();
	}

	@Test
	void failsByItsShare() {
		charge(Trip.FARE);
		this.visa.set(Duration.ZERO, 1);

		assertThatExceptionOfType(ProviderException.class).isThrownBy(() -> charge(Trip.FARE));
	}

	@Test
	void declinesPoison() {
		assertThatExceptionOfType(DeclinedException.class).isThrownBy(() -> charge(Trip.POISON_FARE));
	}

	private void charge(long cents) {
		try {
			this.visa.charge(new Trip(1, Card.VISA, cents, Instant.now()));
		}
		catch (InterruptedException ex) {
			throw new CompletionException(ex);
		}
	}

}
