package io.queuestarter.outage;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.EventPublisher;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.core.EventProcessor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class CircuitsTests {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private static final IllegalStateException DOWN = new IllegalStateException("down");

	private final CircuitBreakerRegistry registry = CircuitBreakerRegistry.ofDefaults();

	@Test
	void recordIsGivenUpWhenAnotherSucceededThatBeganLater() {
		Circuit circuit = circuits(null).of(null);
		acquire(circuit, 2);

		circuit.failed(SECOND, 2 * SECOND, DOWN);
		assertThat(circuit.mayGiveUp(2 * SECOND, SECOND, 2 * SECOND)).isFalse();

		circuit.succeeded(3 * SECOND, 4 * SECOND);
		assertThat(circuit.mayGiveUp(2 * SECOND, 2 * SECOND, 4 * SECOND)).isTrue();
	}

	@Test
	void successThatBeganBeforeTheFailureProvesNothing() {
		Circuit circuit = circuits(null).of(null);
		acquire(circuit, 2);

		circuit.failed(SECOND, 2 * SECOND, DOWN);
		circuit.succeeded(SECOND, 5 * SECOND);

		assertThat(circuit.mayGiveUp(2 * SECOND, 2 * SECOND, 6 * SECOND)).isFalse();
	}

	@Test
	void recordThatIsAloneIsGivenUpAfterThePatience() {
		Circuit circuit = circuits(null).of(null);

		assertThat(circuit.mayGiveUp(0, 110 * SECOND, 119 * SECOND)).isFalse();
		assertThat(circuit.mayGiveUp(0, 110 * SECOND, 120 * SECOND)).isTrue();
		assertThat(circuit.mayGiveUp(0, 110 * SECOND, 120 * SECOND)).as("the free token is spent").isFalse();
	}

	@Test
	void nothingIsGivenUpWhileTheBreakerIsOpenOrHalfOpen() {
		Circuit circuit = circuits(null).of(null);
		CircuitBreaker breaker = this.registry.circuitBreaker("orders");
		acquire(circuit, 1);
		circuit.succeeded(SECOND, 2 * SECOND);

		breaker.transitionToOpenState();
		assertThat(circuit.isOpen()).isTrue();
		assertThat(circuit.tryAcquire()).isFalse();
		assertThat(circuit.mayGiveUp(0, 0, 500 * SECOND)).isFalse();
		breaker.transitionToHalfOpenState();
		assertThat(circuit.isOpen()).isFalse();
		assertThat(circuit.mayGiveUp(0, 0, 500 * SECOND)).isFalse();
		breaker.transitionToClosedState();
		assertThat(circuit.mayGiveUp(0, 0, 500 * SECOND)).isTrue();
	}

	@Test
	void openBreakerLetsAttemptsFindOutAlthoughNobodyAsks() {
		this.registry.circuitBreaker("orders",
				CircuitBreakerConfig.custom().waitDurationInOpenState(Duration.ofMillis(1)).build());
		Circuits circuits = circuits(null);
		CircuitBreaker breaker = this.registry.circuitBreaker("orders");
		breaker.transitionToOpenState();

		Awaitility.await().until(() -> {
			circuits.tick(0);
			return breaker.getState() == CircuitBreaker.State.HALF_OPEN;
		});

		assertThat(circuits.isOpen()).isFalse();
		acquire(circuits.of(null), 10);
	}

	@Test
	void openingsAreCountedWhoeverOpensTheBreaker() {
		Circuit circuit = circuits(null).of(null);
		CircuitBreaker breaker = this.registry.circuitBreaker("orders");
		int before = circuit.openings();

		breaker.transitionToOpenState();
		assertThat(circuit.openings()).isEqualTo(before + 1);
		breaker.transitionToHalfOpenState();
		assertThat(circuit.openings()).isEqualTo(before + 1);
		breaker.transitionToForcedOpenState();
		assertThat(circuit.openings()).isEqualTo(before + 2);
		breaker.transitionToClosedState();
		assertThat(circuit.openings()).isEqualTo(before + 2);
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();

		assertThat(circuit.openings()).as("it was open in between").isEqualTo(before + 3);
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		assertThat(circuit.openings()).as("again").isEqualTo(before + 4);
		breaker.transitionToClosedState();
		circuit.tryAcquire();
		breaker.transitionToOpenState();
		breaker.transitionToClosedState();
		assertThat(circuit.openings()).as("and once more").isEqualTo(before + 5);
	}

	@Test
	void changesOfABreakerAreLogged(CapturedOutput output) {
		Circuits circuits = circuits(null);
		CircuitBreaker breaker = this.registry.circuitBreaker("orders");

		breaker.transitionToOpenState();
		circuits.tick(0);
		assertThat(output).contains("Circuit breaker 'orders' opens");
		breaker.transitionToClosedState();
		circuits.tick(0);

		assertThat(output).contains("Circuit breaker 'orders' closes");
	}

	@Test
	void noEventIsBuiltForAnAttemptUnlessSomebodyListens() {
		circuits(null);

		EventPublisher publisher = this.registry.circuitBreaker("orders").getEventPublisher();

		assertThat(((EventProcessor<?>) publisher).hasConsumers()).isFalse();
	}

	@Test
	void permitsAreGivenBackWhateverTheOutcome() {
		this.registry.circuitBreaker("orders",
				CircuitBreakerConfig.custom().permittedNumberOfCallsInHalfOpenState(2).build());
		Circuit circuit = circuits(null).of(null);
		this.registry.circuitBreaker("orders").transitionToOpenState();
		this.registry.circuitBreaker("orders").transitionToHalfOpenState();

		for (int round = 0; round < 100; round++) {
			acquire(circuit, 2);
			assertThat(circuit.tryAcquire()).isFalse();
			circuit.released();
			circuit.released();
		}
	}

	@Test
	void recordsOfOneKeyShareACircuit() {
		Circuits circuits = circuits("provider");
		this.registry.circuitBreaker("orders.visa").transitionToOpenState();

		assertThat(circuits.of(record("visa")).tryAcquire()).isFalse();
		assertThat(circuits.of(record("mastercard")).tryAcquire()).isTrue();
		assertThat(circuits.of(record("visa"))).isSameAs(circuits.of(record("visa")));
		assertThat(circuits.of(record(null))).isSameAs(circuits.of(null));
		assertThat(circuits.isOpen()).as("intake goes on").isFalse();
	}

	@Test
	void breakerOfAKeyIsConfiguredLikeTheInstance() {
		this.registry.circuitBreaker("orders", CircuitBreakerConfig.custom().failureRateThreshold(7).build());
		Circuits circuits = circuits("provider");

		circuits.of(record("visa"));

		assertThat(this.registry.circuitBreaker("orders.visa").getCircuitBreakerConfig().getFailureRateThreshold())
			.isEqualTo(7);
	}

	@Test
	void keysBeyondAHundredShareOneCircuit() {
		Circuits circuits = circuits("provider");

		IntStream.range(0, 10_000).forEach((key) -> circuits.of(record("key-" + key)));

		assertThat(circuits.states(0)).hasSizeLessThanOrEqualTo(102);
		assertThat(circuits.of(record("key-9998"))).isSameAs(circuits.of(record("key-9999")));
	}

	@Test
	void X50_keyThatCannotBeToldIsNoKey() {
		Circuits circuits = new Circuits(settings(null, 1), this.registry, (record) -> {
			throw new IllegalStateException("no key");
		}, () -> 0);

		assertThat(circuits.of(record("visa"))).isSameAs(circuits.of(null));
	}

	@Test
	void X56_keyThatThrowsACheckedExceptionOrAnErrorIsNoKey() {
		for (Throwable error : List.of(new IOException("no key"), new AssertionError(), new NoClassDefFoundError())) {
			Circuits circuits = new Circuits(settings(null, 1), this.registry, (record) -> {
				throw CircuitsTests.<RuntimeException>sneak(error);
			}, () -> 0);

			assertThat(circuits.of(record("visa"))).isSameAs(circuits.of(null));
		}
	}

	@Test
	void X56_registryThatThrowsOnANewBreakerLeavesTheCommonOne() {
		Circuits circuits = circuits("provider");
		this.registry.getEventPublisher().onEntryAdded((event) -> {
			throw new IllegalStateException("no breaker");
		});

		assertThat(circuits.of(record("visa"))).isNotNull().extracting(Circuit::tryAcquire).isEqualTo(true);
	}

	@Test
	void X56_permitIsGivenBackWhenAPredicateThrows() {
		this.registry.circuitBreaker("orders",
				CircuitBreakerConfig.custom().permittedNumberOfCallsInHalfOpenState(2).recordException((error) -> {
					throw CircuitsTests.<RuntimeException>sneak(error);
				}).build());
		Circuit circuit = circuits(null).of(null);
		this.registry.circuitBreaker("orders").transitionToOpenState();
		this.registry.circuitBreaker("orders").transitionToHalfOpenState();

		for (int round = 0; round < 100; round++) {
			acquire(circuit, 2);
			assertThat(circuit.tryAcquire()).isFalse();
			circuit.failed(0, SECOND, DOWN);
			circuit.failed(0, SECOND, new AssertionError("down"));
		}
	}

	@Test
	void X56_eventConsumerThatThrowsChangesNothing() {
		this.registry.circuitBreaker("orders", CircuitBreakerConfig.custom().minimumNumberOfCalls(10).build())
			.getEventPublisher()
			.onEvent((event) -> {
				throw CircuitsTests.<RuntimeException>sneak(new IOException("no event"));
			});
		Circuit circuit = circuits(null).of(null);

		acquire(circuit, 10);
		circuit.succeeded(SECOND, 2 * SECOND);
		for (int failure = 0; failure < 9; failure++) {
			circuit.failed(SECOND, 2 * SECOND, DOWN);
		}

		assertThat(circuit.isOpen()).isTrue();
	}

	@Test
	void X56_eventConsumerThatHangsHoldsUpNoOtherOutcome() throws InterruptedException {
		CountDownLatch hangs = new CountDownLatch(1);
		CountDownLatch over = new CountDownLatch(1);
		this.registry.circuitBreaker("orders").getEventPublisher().onError((event) -> {
			hangs.countDown();
			try {
				over.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
		Circuit circuit = circuits(null).of(null);
		acquire(circuit, 2);
		Thread hanging = new Thread(() -> circuit.failed(SECOND, 2 * SECOND, DOWN));
		hanging.start();
		assertThat(hangs.await(30, TimeUnit.SECONDS)).isTrue();

		Thread other = new Thread(() -> circuit.succeeded(3 * SECOND, 4 * SECOND));
		other.start();
		other.join(30_000);
		boolean heldUp = other.isAlive();
		over.countDown();
		hanging.join();

		assertThat(heldUp).isFalse();
		assertThat(this.registry.circuitBreaker("orders").getMetrics().getNumberOfSuccessfulCalls()).isOne();
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> E sneak(Throwable error) throws E {
		throw (E) error;
	}

	private Circuits circuits(@Nullable String header) {
		return new Circuits(settings(header, 1), this.registry, null, () -> 0);
	}

	private static OutageSettings settings(@Nullable String header, int free) {
		return new OutageSettings(true, "orders", header, Duration.ofMinutes(5), free, Duration.ofMinutes(2));
	}

	private static void acquire(Circuit circuit, int times) {
		for (int i = 0; i < times; i++) {
			assertThat(circuit.tryAcquire()).isTrue();
		}
	}

	private static ConsumerRecord<byte[], byte[]> record(@Nullable String provider) {
		ConsumerRecord<byte[], byte[]> record = Records.record(Records.partition(0), 0, 10);
		if (provider != null) {
			record.headers().add("provider", provider.getBytes(StandardCharsets.UTF_8));
		}
		return record;
	}

}
