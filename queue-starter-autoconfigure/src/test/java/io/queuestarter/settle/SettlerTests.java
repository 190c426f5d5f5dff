package io.queuestarter.settle;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.mockito.AdditionalAnswers;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.messaging.converter.MessageConversionException;

import io.queuestarter.QueueRejectException;
import io.queuestarter.QueueRetryException;
import io.queuestarter.context.RecordContext;
import io.queuestarter.deadletter.DeadLetterReason;
import io.queuestarter.deadletter.DeadLetters;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.deadletter.Destination.Kind;
import io.queuestarter.deadletter.Failure;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.handler.AttemptOpener;
import io.queuestarter.handler.HandlerRunner;
import io.queuestarter.handler.PartDecoder;
import io.queuestarter.handler.RecordDecoder;
import io.queuestarter.handler.Surroundings;
import io.queuestarter.outage.Circuit;
import io.queuestarter.outage.Circuits;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;
import io.queuestarter.retry.RetryTier;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.testkit.LogLines;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.ManualTimer;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;

/**
 * Dispatcher, runner, settler and retries on the test's thread, with a clock and a timer
 * that the test moves. Three attempts, 100 ms and 200 ms apart, each up to 30 s.
 */
class SettlerTests {

	private final ManualClock clock = new ManualClock();

	private final ManualTimer timer = new ManualTimer(this.clock);

	private final Outcomes outcomes = new Outcomes();

	private final AtomicReference<Throwable> outOfMemory = new AtomicReference<>();

	private final List<Failure> parked = new ArrayList<>();

	private final List<Destination> destinations = new ArrayList<>();

	private final List<RetryTier> tiers = new ArrayList<>();

	private Circuits circuits = Trust.circuits();

	private Routes.Aside aside = Routes.Aside.DLQ;

	private final List<Attempt> attempts = new ArrayList<>();

	private final Dispatcher<Delivery> dispatcher = new Dispatcher<>(2, 0, Runnable::run, this::run, () -> {
	});

	private final Assignment assignment = Records.assignment(this.dispatcher);

	private final Overstays overstays = new Overstays(this.dispatcher, Duration.ofSeconds(5), 1, this.clock);

	private ExceptionPolicy exceptions = ExceptionPolicy.RETRY_ALL;

	private Settler settler = settler((delivery, failure, destination) -> {
		this.parked.add(failure);
		this.destinations.add(destination);
	});

	private Handler handler = (attempt) -> {
	};

	private Deserializer<?> values = new ByteArrayDeserializer();

	@Test
	void successSettles() {
		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.outcomes.acknowledgedCount()).isOne();
		assertThat(this.assignment.ledger().advance()).isOne();
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void failureIsTriedAgainAfterTheBackoffAndDeadLetteredInTheEnd() {
		IllegalStateException error = new IllegalStateException("down");
		this.handler = (attempt) -> {
			throw new ListenerExecutionFailedException("Spring's wrapping", error);
		};

		Delivery delivery = dispatch();
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(delivery.lastError()).isEqualTo("IllegalStateException");
		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofMillis(100).toNanos());
		passTime(Duration.ofMillis(99));
		assertThat(this.attempts).hasSize(1);
		passTime(Duration.ofMillis(1));
		assertThat(this.attempts).hasSize(2);
		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofMillis(200).toNanos());
		passTime(Duration.ofMillis(200));

		assertThat(this.attempts).extracting(Attempt::attempt).containsExactly(1, 2, 3);
		assertThat(this.parked).containsExactly(new Failure(DeadLetterReason.RETRIES_EXHAUSTED, 3, error));
		assertThat(delivery.state()).isEqualTo(DeliveryState.DEAD_LETTERING);
		assertThat(this.outcomes.retriedCount()).isEqualTo(2);
		assertThat(this.assignment.ledger().advance()).isZero();
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void recordThatSucceedsInTheEndIsNotDeadLettered() {
		this.handler = (attempt) -> {
			if (attempt.attempt() < 3) {
				throw new IllegalStateException("down");
			}
		};
		Delivery delivery = dispatch();

		passTime(Duration.ofSeconds(1));
		passTime(Duration.ofSeconds(1));

		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.parked).isEmpty();
	}

	@Test
	void rejectExceptionDeadLettersAtOnce() {
		QueueRejectException error = new QueueRejectException("no such order");
		this.handler = (attempt) -> {
			throw new ListenerExecutionFailedException("Spring's wrapping", error);
		};

		dispatch();

		assertThat(this.parked).containsExactly(new Failure(DeadLetterReason.NACK, 1, error));
	}

	@Test
	void exceptionThatIsNotRetryableDeadLettersAtOnce() {
		IllegalStateException error = new IllegalStateException("card expired");
		refuse(IllegalStateException.class);
		this.handler = (attempt) -> {
			throw new ListenerExecutionFailedException("Spring's wrapping", error);
		};

		dispatch();

		assertThat(this.parked).containsExactly(new Failure(DeadLetterReason.NOT_RETRYABLE, 1, error));
		assertThat(this.outcomes.retriedCount()).isZero();
	}

	@Test
	void laterAttemptThatEndsWithAnExceptionThatIsNotRetryableIsTheLast() {
		refuse(IllegalStateException.class);
		this.handler = (attempt) -> {
			throw (attempt.attempt() == 1) ? new IOException("down") : new IllegalStateException("card expired");
		};

		dispatch();
		passTime(Duration.ofMillis(100));

		assertThat(this.parked).extracting(Failure::attempts).containsExactly(2);
	}

	@Test
	void exceptionPolicyDoesNotOverrideWhatTheHandlerSays() {
		refuse(Throwable.class);
		this.handler = (attempt) -> {
			switch (attempt.attempt()) {
				case 1 -> throw new QueueRetryException(Duration.ofMinutes(1), new IOException("busy"));
				case 2 -> attempt.retryAfter(Duration.ofMinutes(1));
				default -> throw new QueueRejectException("no such order");
			}
		};

		dispatch();
		passTime(Duration.ofMinutes(1));
		passTime(Duration.ofMinutes(1));

		assertThat(this.parked).extracting(Failure::reason).containsExactly(DeadLetterReason.NACK);
	}

	@Test
	void exceptionPolicyDoesNotConcernDeserializersAndTimeouts() {
		refuse(Throwable.class);
		this.values = (Deserializer<Object>) (topic, data) -> {
			throw new IllegalStateException("no schema", new IOException("registry down"));
		};
		assertThat(dispatch().state()).isEqualTo(DeliveryState.BACKOFF);

		this.values = new ByteArrayDeserializer();
		this.handler = Attempt::awaitAnswer;
		Delivery hanging = dispatch();
		this.clock.advance(Duration.ofSeconds(30));
		this.settler.timeOutOverdue();

		assertThat(hanging.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(this.parked).isEmpty();
	}

	@Test
	void withoutDeadLettersAnExceptionThatIsNotRetryableIsTriedAgain() {
		this.exceptions = new ExceptionPolicy(List.of(), List.of(IllegalStateException.class));
		this.settler = settler(null);
		this.handler = (attempt) -> {
			throw new IllegalStateException("card expired");
		};

		assertThat(dispatch().state()).isEqualTo(DeliveryState.BACKOFF);
	}

	private void refuse(Class<? extends Throwable> type) {
		this.exceptions = new ExceptionPolicy(List.of(), List.of(type));
		this.settler = settler((delivery, failure, destination) -> this.parked.add(failure));
	}

	@Test
	void rejectAnswerDeadLettersAtOnce() {
		this.handler = (attempt) -> attempt.reject("no such order");

		dispatch();

		assertThat(this.parked).singleElement()
			.satisfies((failure) -> assertThat(failure.error()).hasMessage("no such order"))
			.extracting(Failure::reason)
			.isEqualTo(DeadLetterReason.NACK);
		assertThat(this.outcomes.acknowledgedCount()).isZero();
	}

	@Test
	void delayThatTheHandlerNamesIsKept() {
		this.handler = (attempt) -> attempt.retryAfter(Duration.ofMinutes(7));
		dispatch();
		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofMinutes(7).toNanos());

		this.handler = (attempt) -> {
			throw new QueueRetryException(Duration.ofMinutes(3));
		};
		passTime(Duration.ofMinutes(7));
		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofMinutes(3).toNanos());
		passTime(Duration.ofMinutes(3));

		assertThat(this.parked).extracting(Failure::reason).containsExactly(DeadLetterReason.RETRIES_EXHAUSTED);
		assertThat(this.parked).extracting(Failure::attempts).containsExactly(3);
	}

	@Test
	void delayOfCenturiesIsCutToADay() {
		this.handler = (attempt) -> {
			throw new QueueRetryException(Duration.ofSeconds(Long.MAX_VALUE));
		};

		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofDays(1).toNanos());
	}

	@Test
	void undecodableRecordIsDeadLetteredAtOnce() {
		this.values = (Deserializer<Object>) (topic, data) -> {
			throw new IllegalArgumentException("not JSON");
		};

		dispatch();

		assertThat(this.parked).singleElement()
			.satisfies((failure) -> assertThat(failure.error()).hasRootCauseMessage("not JSON"))
			.extracting(Failure::reason)
			.isEqualTo(DeadLetterReason.UNDECODABLE);
	}

	@Test
	void registryThatDoesNotAnswerIsTriedAgainBeforeTheRecordIsDeadLettered() {
		this.values = (Deserializer<Object>) (topic, data) -> {
			throw new IllegalStateException("no schema", new IOException("registry down"));
		};

		Delivery delivery = dispatch();
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		passTime(Duration.ofMillis(100));
		passTime(Duration.ofMillis(200));

		assertThat(this.parked).singleElement()
			.satisfies((failure) -> assertThat(failure.attempts()).isEqualTo(3))
			.extracting(Failure::reason)
			.isEqualTo(DeadLetterReason.UNDECODABLE);
	}

	@Test
	void impossibleArrayIsTheRecordsFaultAndNotMemorys() {
		this.values = (Deserializer<Object>) (topic, data) -> {
			throw new OutOfMemoryError("Requested array size exceeds VM limit");
		};

		dispatch();

		assertThat(this.parked).extracting(Failure::reason).containsExactly(DeadLetterReason.UNDECODABLE);
		assertThat(this.outOfMemory).hasNullValue();
	}

	@Test
	void errorOfTheEngineStopsTheQueueAndStrandsNoRecord() {
		this.settler = settler((delivery, failure, destination) -> {
			throw new NoClassDefFoundError("snappy");
		});
		this.handler = (attempt) -> {
			throw new QueueRejectException("no");
		};

		Delivery delivery = admit();
		assertThatThrownBy(() -> this.dispatcher.submit(this.assignment.queues().own().get(0), delivery))
			.isInstanceOf(NoClassDefFoundError.class);

		assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(this.outOfMemory.get()).isInstanceOf(NoClassDefFoundError.class);
		assertThat(this.assignment.ledger().advance()).isZero();
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void recordLetGoInBackoffLeavesTheTimer() {
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		Delivery delivery = dispatch();

		delivery.letGo();

		assertThat(this.timer.delaysNanos()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("conversionFailures")
	void recordThatDoesNotConvertIsDeadLetteredAtOnce(RuntimeException error) {
		this.handler = (attempt) -> {
			throw new ListenerExecutionFailedException("Spring's wrapping", error);
		};

		dispatch();

		assertThat(this.parked).containsExactly(new Failure(DeadLetterReason.UNPROCESSABLE, 1, error));
	}

	@ParameterizedTest
	@MethodSource("conversionFailures")
	void conversionThatFailsInsideTheHandlerIsTriedAgain(RuntimeException error) {
		this.handler = (attempt) -> {
			attempt.called();
			throw error;
		};

		assertThat(dispatch().state()).isEqualTo(DeliveryState.BACKOFF);

		assertThat(this.parked).isEmpty();
	}

	static Stream<RuntimeException> conversionFailures() {
		return Stream.of(new ConversionException("no", new IllegalArgumentException()),
				new MessageConversionException("no"));
	}

	@Test
	void withoutDeadLettersEveryFailureIsTriedForEver() {
		this.settler = settler(null);
		this.handler = (attempt) -> {
			if (attempt.attempt() % 2 == 0) {
				throw new QueueRejectException("no such order");
			}
			throw new IllegalStateException("down");
		};
		Delivery delivery = dispatch();

		for (int attempt = 2; attempt <= 20; attempt++) {
			passTime(Duration.ofHours(1));
			assertThat(this.attempts).hasSize(attempt);
			assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		}
		assertThat(this.assignment.ledger().advance()).isZero();
	}

	@Test
	void U14_timeoutAnswersAndALateSuccessIsCountedAndIgnored() {
		List<Object> seen = new ArrayList<>();
		this.handler = (attempt) -> {
			this.clock.advance(Duration.ofSeconds(30));
			this.settler.timeOutOverdue();
			seen.addAll(
					List.of(attempt.isCancelled(), Thread.currentThread().isInterrupted(), this.dispatcher.inFlight()));
		};

		Delivery delivery = dispatch();

		assertThat(seen).containsExactly(true, true, 1);
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(delivery.lastError()).isEqualTo("TimeoutException");
		assertThat(this.outcomes.timedOutCount()).isOne();
		assertThat(this.outcomes.lateCount()).isOne();
		assertThat(this.outcomes.acknowledgedCount()).isZero();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void recordThatTimedOutWhileOthersThatBeganLaterSucceededIsAtFault() {
		this.handler = Attempt::awaitAnswer;
		Delivery hung = dispatch();
		this.clock.advance(Duration.ofSeconds(1));
		this.handler = (attempt) -> {
		};
		dispatch();
		this.clock.advance(Duration.ofSeconds(29));
		this.settler.timeOutOverdue();

		assertThat(hung.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(hung.isAtFault()).isTrue();
	}

	@Test
	void recordThatTimedOutWithAllOthersIsNotAtFault() {
		this.handler = Attempt::awaitAnswer;
		Delivery hung = dispatch();
		this.clock.advance(Duration.ofSeconds(30));
		this.settler.timeOutOverdue();

		assertThat(hung.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(hung.isAtFault()).isFalse();
	}

	/* As if the others of its window had all begun before it failed first. */
	@Test
	void recordThatFailsForLongWhileNobodyElseIsTriedIsAtFault() {
		guarded(Duration.ofMillis(250));
		this.handler = (attempt) -> {
			throw new IllegalStateException("poison");
		};
		Delivery failing = dispatch();
		passTime(Duration.ofMillis(100));
		assertThat(failing.isAtFault()).isFalse();

		passTime(Duration.ofMillis(200));

		assertThat(failing.isAtFault()).isTrue();
	}

	@Test
	void attemptWithinItsTimeIsNotTimedOut() {
		this.handler = Attempt::awaitAnswer;
		Delivery delivery = dispatch();

		this.clock.advance(Duration.ofSeconds(30).minusNanos(1));
		this.settler.timeOutOverdue();

		assertThat(delivery.state()).isEqualTo(DeliveryState.IN_FLIGHT);
		assertThat(this.outcomes.timedOutCount()).isZero();
	}

	/*
	 * As for a moment when an attempt begins: it can be seen before its record is in
	 * flight.
	 */
	@Test
	void attemptWhoseRecordIsNotInFlightIsNotTimedOut() {
		this.handler = (attempt) -> {
			assertThat(attempt.delivery().move(DeliveryState.IN_FLIGHT, DeliveryState.QUEUED)).isTrue();
			this.clock.advance(Duration.ofSeconds(30));
			this.settler.timeOutOverdue();
			assertThat(attempt.delivery().move(DeliveryState.QUEUED, DeliveryState.IN_FLIGHT)).isTrue();
		};

		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.attempts).noneMatch(Attempt::isCancelled);
		assertThat(this.outcomes.timedOutCount()).isZero();
	}

	@Test
	void handlerThatHasAnsweredIsCancelledAtItsDeadlineAndLosesItsPlace() {
		List<String> seen = new ArrayList<>();
		this.handler = (attempt) -> {
			attempt.ack();
			for (Duration time : List.of(Duration.ofSeconds(30).minusNanos(1), Duration.ofNanos(1),
					Duration.ofSeconds(5).minusNanos(1), Duration.ofNanos(1))) {
				this.clock.advance(time);
				this.settler.timeOutOverdue();
				seen.add(
						"cancelled " + attempt.isCancelled() + ", interrupted " + Thread.currentThread().isInterrupted()
								+ ", in flight " + this.dispatcher.inFlight() + ", leaked " + this.overstays.leaked());
			}
		};

		Delivery delivery = dispatch();
		this.settler.timeOutOverdue();

		assertThat(seen).containsExactly("cancelled false, interrupted false, in flight 1, leaked 0",
				"cancelled true, interrupted true, in flight 1, leaked 0",
				"cancelled true, interrupted true, in flight 1, leaked 0",
				"cancelled true, interrupted true, in flight 0, leaked 1");
		assertThat(this.overstays.leaked()).isZero();
		assertThat(this.overstays.total()).isOne();
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(delivery.timeouts()).isZero();
		assertThat(this.outcomes.acknowledgedCount()).isOne();
		assertThat(this.outcomes.timedOutCount()).isZero();
		assertThat(this.outcomes.lateCount()).as("its answer counted").isZero();
		assertThat(this.outcomes.retriedCount()).isZero();
		assertThat(this.dispatcher.inFlight()).isZero();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void handlerThatAskedForAnotherAttemptIsCancelledAtItsDeadlineWhateverTheNextDoes() {
		this.handler = (attempt) -> {
			if (attempt.attempt() == 1) {
				attempt.retryAfter(Duration.ZERO);
				passTime(Duration.ofSeconds(30));
				this.settler.timeOutOverdue();
			}
		};

		Delivery delivery = dispatch();

		assertThat(this.attempts).extracting(Attempt::isCancelled).containsExactly(true, false);
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.outcomes.timedOutCount()).isZero();
	}

	@Test
	void handlerThatHasAnsweredAndReturnedIsNotCancelled() {
		this.handler = Attempt::ack;
		dispatch();

		this.clock.advance(Duration.ofHours(1));
		this.settler.timeOutOverdue();

		assertThat(this.attempts).noneMatch(Attempt::isCancelled);
		assertThat(this.overstays.total()).isZero();
	}

	/*
	 * Of a handler that was cancelled twice, at the same moment by two threads, one place
	 * is taken and given back.
	 */
	@Test
	void handlerThatIsToldTwiceLosesItsPlaceOnce() {
		this.handler = (attempt) -> {
			this.overstays.add(attempt, this.clock.nanoTime());
			this.overstays.add(attempt, this.clock.nanoTime());
			this.clock.advance(Duration.ofSeconds(5));
			this.overstays.look(this.clock.nanoTime());
		};

		dispatch();
		this.overstays.look(this.clock.nanoTime());

		assertThat(this.overstays.leaked()).isZero();
		assertThat(this.overstays.total()).isOne();
	}

	@Test
	void recordThatHasUsedUpItsAttemptsGoesToTheNextRetryTopic() {
		this.tiers.add(new RetryTier("{topic}-retry", Duration.ofSeconds(30), 2));
		this.settler = settler((delivery, failure, destination) -> this.destinations.add(destination));
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};

		Delivery delivery = dispatch();
		passTime(Duration.ofMillis(100));
		passTime(Duration.ofMillis(200));

		assertThat(this.attempts).hasSize(3);
		assertThat(this.destinations).containsExactly(new Destination(Kind.RETRY, "orders-retry", 1));
		assertThat(delivery.state()).isEqualTo(DeliveryState.DEAD_LETTERING);
	}

	/** The record is the last of three trials: its failure closes the breaker. */
	@Test
	void trialThatClosesTheBreakerGivesNoRecordUp() {
		CircuitBreaker breaker = guarded(Duration.ZERO);
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		long before = this.clock.nanoTime() - 1;
		Delivery delivery = dispatch();
		passTime(Duration.ofMillis(100));
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		Circuit circuit = this.circuits.of(null);
		for (int trial = 0; trial < 2; trial++) {
			assertThat(circuit.tryAcquire()).isTrue();
			circuit.succeeded(before, this.clock.nanoTime());
		}
		passTime(Duration.ofMillis(200));

		assertThat(this.attempts).hasSize(3);
		assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
		assertThat(this.parked).isEmpty();
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
	}

	@Test
	void attemptsSpentInAnOutageDoNotCountAfterIt() {
		CircuitBreaker breaker = guarded(Duration.ZERO);
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		dispatch();
		passTime(Duration.ofMillis(100));
		breaker.transitionToOpenState();
		breaker.transitionToClosedState();

		passTime(Duration.ofMillis(200));
		passTime(Duration.ofMillis(400));
		assertThat(this.attempts).hasSize(4);
		assertThat(this.parked).isEmpty();
		passTime(Duration.ofMillis(800));

		assertThat(this.parked).singleElement().satisfies((failure) -> assertThat(failure.attempts()).isEqualTo(5));
	}

	/** A window in which poison is left alone must not look like an outage. */
	@Test
	void failuresOfARecordDoNotCountForTheBreakerOnceOthersHaveSucceeded() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		this.handler = (attempt) -> {
			throw new IllegalStateException("poison");
		};
		Circuit circuit = this.circuits.of(null);
		dispatch();
		passTime(Duration.ofMillis(100));
		assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(2);

		this.clock.advance(Duration.ofMillis(5));
		assertThat(circuit.tryAcquire()).isTrue();
		circuit.succeeded(this.clock.nanoTime(), this.clock.nanoTime());
		passTime(Duration.ofMillis(200));

		assertThat(this.attempts).hasSize(3);
		assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isEqualTo(2);
		assertThat(this.parked).hasSize(1);
	}

	@Test
	void attemptThatSpansAnOutageDoesNotCount() {
		CircuitBreaker breaker = guarded(Duration.ZERO);
		this.handler = (attempt) -> {
			if (attempt.attempt() == 1) {
				breaker.transitionToOpenState();
				breaker.transitionToClosedState();
			}
			throw new IllegalStateException("down");
		};
		dispatch();

		passTime(Duration.ofMillis(100));
		passTime(Duration.ofMillis(200));
		assertThat(this.attempts).hasSize(3);
		assertThat(this.parked).isEmpty();
		passTime(Duration.ofMillis(400));

		assertThat(this.parked).singleElement().satisfies((failure) -> assertThat(failure.attempts()).isEqualTo(4));
	}

	/*
	 * A quiet queue of which one record is poison: its first failure counts against the
	 * provider, the others would each time open the breaker anew.
	 */
	@Test
	void recordFailsOneTrialOfTheBreakerUntilItOpensAgain() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		dispatch();
		for (int attempt = 2; attempt <= 10; attempt++) {
			passTime(Duration.ofSeconds(1));
		}
		assertThat(this.attempts).hasSize(10);
		assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.HALF_OPEN);
		assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isOne();

		this.handler = (attempt) -> {
		};
		dispatch();
		dispatch();
		assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
	}

	@Test
	void eachOpeningOfTheBreakerCountsAFailedTrialOfTheRecordAnew() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		dispatch();
		passTime(Duration.ofSeconds(1));
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();

		passTime(Duration.ofSeconds(1));
		passTime(Duration.ofSeconds(1));

		assertThat(this.attempts).hasSize(4);
		assertThat(breaker.getMetrics().getNumberOfFailedCalls()).isOne();
	}

	@Test
	void attemptBegunBeforeTheBreakerOpenedGivesNoPermitBack() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		this.handler = Attempt::awaitAnswer;
		dispatch();
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();

		this.attempts.get(0).reject("no such order");

		assertThat(permits(breaker)).isEqualTo(3);
	}

	@Test
	void trialGivesNoPermitBackToTheNextTrials() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		this.handler = Attempt::awaitAnswer;
		Delivery delivery = dispatch();
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();

		delivery.letGo();

		assertThat(permits(breaker)).isEqualTo(3);
	}

	@Test
	void trialThatSaysNothingGivesItsPermitBack() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		this.handler = (attempt) -> attempt.reject("no such order");

		dispatch();

		assertThat(permits(breaker)).isEqualTo(3);
	}

	private static int permits(CircuitBreaker breaker) {
		int permits = 0;
		while (breaker.tryAcquirePermission()) {
			permits++;
		}
		return permits;
	}

	/*
	 * The breaker is asked just before the record is moved, and lets it go.
	 */
	@Test
	void recordLetGoWhileItIsMovedAsideDoesNotCountAsMoved() {
		CircuitBreaker breaker = guarded(Duration.ofMinutes(2));
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		CircuitBreaker watched = mock(AdditionalAnswers.delegatesTo(breaker));
		guard(watched);
		this.handler = Attempt::awaitAnswer;
		Delivery delivery = dispatch();
		willAnswer((call) -> delivery.letGo()).given(watched).releasePermission();

		assertThat(this.settler.moveAside(delivery, new IllegalStateException("blocks"))).isFalse();

		assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(this.outcomes.cancelledCount()).isZero();
		assertThat(this.parked).isEmpty();
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	private CircuitBreaker guarded(Duration patience) {
		CircuitBreakerRegistry registry = CircuitBreakerRegistry
			.of(CircuitBreakerConfig.custom().permittedNumberOfCallsInHalfOpenState(3).build());
		CircuitBreaker breaker = registry.circuitBreaker("guarded");
		guard(registry, patience);
		return breaker;
	}

	private void guard(CircuitBreaker breaker) {
		CircuitBreakerRegistry registry = CircuitBreakerRegistry.ofDefaults();
		registry.circuitBreaker("guarded");
		registry.replace("guarded", breaker);
		guard(registry, Duration.ofMinutes(2));
	}

	private void guard(CircuitBreakerRegistry registry, Duration patience) {
		this.circuits = new Circuits(
				new OutageSettings(true, "guarded", null, Duration.ofMinutes(5), Integer.MAX_VALUE, patience), registry,
				null, this.clock::nanoTime);
	}

	@Test
	void rejectedRecordDoesNotRest() {
		this.tiers.add(new RetryTier("{topic}-retry", Duration.ofSeconds(30), 2));
		this.settler = settler((delivery, failure, destination) -> this.destinations.add(destination));
		this.handler = (attempt) -> attempt.reject("no");

		dispatch();

		assertThat(this.destinations).containsExactly(new Destination(Kind.DEAD_LETTER, "orders-dlq", 0));
	}

	@Test
	void U15_blockedHeadIsParkedFromBackOff() {
		this.aside = Routes.Aside.PARK;
		this.settler = settler((delivery, failure, destination) -> this.destinations.add(destination));
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		Delivery delivery = dispatch();
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);

		assertThat(this.settler.moveAside(delivery, new IllegalStateException("blocks"))).isTrue();

		passTime(Duration.ofSeconds(1));
		assertThat(this.attempts).hasSize(1);
		assertThat(this.destinations).containsExactly(new Destination(Kind.PARK, "orders-park", 0));
		assertThat(this.settler.moveAside(delivery, new IllegalStateException("blocks"))).isFalse();
	}

	@Test
	void U18_lastTimeoutDeadLetters() {
		this.handler = Attempt::awaitAnswer;
		dispatch();

		for (int attempt = 1; attempt <= 3; attempt++) {
			passTime(Duration.ofSeconds(30));
			this.settler.timeOutOverdue();
			passTime(Duration.ofSeconds(1));
		}

		assertThat(this.attempts).hasSize(3);
		assertThat(this.parked).extracting(Failure::reason).containsExactly(DeadLetterReason.TIMEOUT);
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void X57_timeoutsAreToldOnceInTenSeconds() {
		this.handler = Attempt::awaitAnswer;
		try (LogLines lines = LogLines.of(Settler.class.getName(), Level.DEBUG)) {
			for (int record = 0; record < 3; record++) {
				dispatch();
				dispatch();
				passTime(Duration.ofSeconds(30));
				this.settler.timeOutOverdue();
				this.assignment.ledger().forEachOutstanding(Delivery::letGo);
			}

			assertThat(lines.texts(Level.WARN)).hasSize(3);
			assertThat(lines.texts(Level.WARN).get(0)).endsWith("attempt 1 timed out and was cancelled");
			assertThat(lines.texts(Level.WARN).get(1))
				.endsWith("timed out and was cancelled, and 1 more since the last such line");
			assertThat(lines.stacks(Level.WARN)).isZero();
		}
	}

	@Test
	void X57_startsThatFailAreToldOnceInTenSecondsAndTriedAgain() {
		try (LogLines lines = LogLines.of(Settler.class.getName(), Level.WARN)) {
			for (int record = 0; record < 100; record++) {
				this.settler.notStarted(admit(), new IllegalStateException("breaker"));
			}

			assertThat(lines.texts(Level.WARN)).hasSize(1);
			assertThat(this.timer.delaysNanos()).hasSize(100);
		}
	}

	@Test
	void X57_handlersThatDoNotEndAreTold() {
		this.handler = (attempt) -> {
			this.overstays.add(attempt, this.clock.nanoTime());
			this.clock.advance(Duration.ofSeconds(5));
			this.overstays.look(this.clock.nanoTime());
		};
		try (LogLines lines = LogLines.of(Overstays.class.getName(), Level.WARN)) {
			dispatch();

			assertThat(lines.texts(Level.WARN)).singleElement()
				.asString()
				.endsWith("attempt 1 was cancelled and does not end; its place was given to another, 1 of 1 so far");
		}
	}

	@Test
	void answerThatComesLaterKeepsItsSlotUntilItComes() {
		this.handler = Attempt::awaitAnswer;
		Delivery delivery = dispatch();
		assertThat(delivery.state()).isEqualTo(DeliveryState.IN_FLIGHT);
		assertThat(this.dispatcher.inFlight()).isOne();

		this.attempts.get(0).ack();
		this.attempts.get(0).ack();
		this.attempts.get(0).reject("too late");

		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.dispatcher.inFlight()).isZero();
		assertThat(this.outcomes.acknowledgedCount()).isOne();
		assertThat(this.outcomes.lateCount()).isZero();
		assertThat(this.parked).isEmpty();
	}

	@Test
	void exceptionAfterAnAnswerChangesNothing() {
		this.handler = (attempt) -> {
			attempt.awaitAnswer();
			attempt.ack();
			throw new IllegalStateException("after the answer");
		};

		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.outcomes.retriedCount()).isZero();
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@ParameterizedTest
	@MethodSource("outOfMemoryErrors")
	void outOfMemoryNeitherSettlesNorDeadLetters(Exception wrapping) {
		this.handler = (attempt) -> {
			throw wrapping;
		};

		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(this.outOfMemory.get()).isSameAs(wrapping);
		assertThat(this.parked).isEmpty();
		assertThat(this.timer.delaysNanos()).isEmpty();
		assertThat(this.outcomes.acknowledgedCount()).isZero();
		assertThat(this.assignment.ledger().advance()).isZero();
		assertThat(this.dispatcher.inFlight()).isZero();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	static Stream<Exception> outOfMemoryErrors() {
		OutOfMemoryError error = new OutOfMemoryError("Java heap space");
		return Stream.of(new IllegalStateException("Unexpected handler error", error), new CompletionException(error),
				new ListenerExecutionFailedException("failed", new QueueRejectException("rejected", error)),
				new QueueRetryException(Duration.ZERO, new RuntimeException(new RuntimeException(error))));
	}

	@Test
	void bareOutOfMemoryErrorNeitherSettlesNorDeadLetters() {
		OutOfMemoryError error = new OutOfMemoryError("Java heap space");
		this.handler = (attempt) -> {
			throw error;
		};

		assertThat(dispatch().state()).isEqualTo(DeliveryState.LET_GO);

		assertThat(this.outOfMemory.get()).isSameAs(error);
	}

	@Test
	void stackOverflowIsAFailureLikeAnyOther() {
		this.handler = (attempt) -> {
			throw new IllegalStateException("Unexpected handler error", new StackOverflowError());
		};

		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(delivery.lastError()).isEqualTo("StackOverflowError");
		assertThat(this.outOfMemory.get()).isNull();
	}

	@Test
	void checkedExceptionIsAFailureLikeAnyOther() {
		this.handler = (attempt) -> {
			throw new IOException("down");
		};

		assertThat(dispatch().state()).isEqualTo(DeliveryState.BACKOFF);
	}

	@Test
	void recordLetGoInFlightIsCountedAndItsAnswerIsLate() {
		this.handler = Attempt::awaitAnswer;
		Delivery delivery = dispatch();

		delivery.letGo();
		assertThat(this.outcomes.abandonedCount()).isOne();
		assertThat(this.dispatcher.inFlight()).isZero();
		this.attempts.get(0).ack();

		assertThat(this.outcomes.lateCount()).isOne();
		assertThat(this.outcomes.acknowledgedCount()).isZero();
		assertThat(this.assignment.ledger().advance()).isZero();
	}

	@Test
	void recordLetGoDuringItsBackoffIsNotTriedAgain() {
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		Delivery delivery = dispatch();

		delivery.letGo();
		passTime(Duration.ofHours(1));

		assertThat(this.attempts).hasSize(1);
		assertThat(this.assignment.ledger().settled()).isZero();
	}

	@Test
	void failureWhileTheApplicationClosesLetsTheRecordGo() {
		this.handler = (attempt) -> {
			throw new IllegalStateException("down");
		};
		this.timer.shutdown();

		Delivery delivery = dispatch();

		assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void recordOfABatchThatFailedAsAWholeIsTriedAgainWithTheSameNumber() {
		CircuitBreakerRegistry breakers = CircuitBreakerRegistry
			.of(CircuitBreakerConfig.custom().minimumNumberOfCalls(1).build());
		breakers.circuitBreaker("batch");
		this.circuits = new Circuits(
				new OutageSettings(true, "batch", null, Duration.ofMinutes(5), Integer.MAX_VALUE, Duration.ZERO),
				breakers, null, this.clock::nanoTime);
		this.handler = (attempt) -> {
			if (this.attempts.size() <= 2) {
				attempt.awaitAnswer();
				this.settler.failedTogether(attempt, new IllegalStateException("batch"));
			}
		};

		Delivery delivery = dispatch();
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(delivery.hasFailed()).isFalse();
		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofMillis(100).toNanos());
		passTime(Duration.ofMillis(100));
		passTime(Duration.ofMillis(100));

		assertThat(this.attempts).extracting(Attempt::attempt).containsExactly(1, 1, 1);
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.circuits.isOpen()).isFalse();
		assertThat(this.outcomes.retriedCount()).isEqualTo(2);
	}

	@Test
	void batchThatFailsAsAWholeMayNameTheDelay() {
		this.handler = (attempt) -> {
			attempt.awaitAnswer();
			this.settler.failedTogether(attempt, new QueueRetryException(Duration.ofSeconds(7)));
		};

		dispatch();

		assertThat(this.timer.delaysNanos()).containsExactly(Duration.ofSeconds(7).toNanos());
	}

	@Test
	void recordThatItsBatchDidNotReachRunsAgainAtOnceWithTheSameNumber() {
		this.handler = (attempt) -> {
			if (this.attempts.size() == 1) {
				attempt.awaitAnswer();
				this.settler.notReached(attempt);
			}
		};

		Delivery delivery = dispatch();

		assertThat(this.attempts).extracting(Attempt::attempt).containsExactly(1, 1);
		assertThat(this.attempts).extracting(Attempt::delivery).containsOnly(delivery);
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(this.timer.delaysNanos()).isEmpty();
	}

	@Test
	void recordThatWasLetGoWhileItsBatchRanDoesNotRunAgain() {
		this.handler = (attempt) -> {
			attempt.awaitAnswer();
			attempt.delivery().letGo();
			this.settler.notReached(attempt);
			this.settler.failedTogether(attempt, new IllegalStateException("batch"));
		};

		Delivery delivery = dispatch();

		assertThat(this.attempts).hasSize(1);
		assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(this.dispatcher.inFlight()).isZero();
	}

	@Test
	void timeoutOfABatchIsNoneOfItsRecords() {
		this.handler = (attempt) -> {
			if (this.attempts.size() == 1) {
				attempt.enterBatch(() -> {
				}, true);
				attempt.awaitAnswer();
			}
		};
		Delivery delivery = dispatch();

		passTime(Duration.ofSeconds(30));
		this.settler.timeOutOverdue();
		assertThat(delivery.state()).isEqualTo(DeliveryState.BACKOFF);
		assertThat(delivery.timeouts()).isZero();
		assertThat(delivery.hasFailed()).isFalse();
		assertThat(this.outcomes.timedOutCount()).isOne();
		passTime(Duration.ofMillis(100));

		assertThat(this.attempts).extracting(Attempt::attempt).containsExactly(1, 1);
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
	}

	@Test
	void recordOfABatchThatTimedOutGivesThePermitOfItsAttemptBack() {
		CircuitBreaker breaker = breakerThatPermitsOneAttempt();
		this.handler = (attempt) -> {
			if (this.attempts.size() == 1) {
				attempt.enterBatch(() -> {
				}, true);
				attempt.awaitAnswer();
			}
		};
		Delivery delivery = dispatch();

		passTime(Duration.ofSeconds(30));
		this.settler.timeOutOverdue();
		passTime(Duration.ofMillis(100));

		assertThat(this.attempts).hasSize(2);
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
	}

	@Test
	void recordThatItsBatchDidNotReachGivesThePermitOfItsAttemptBack() {
		CircuitBreaker breaker = breakerThatPermitsOneAttempt();
		this.handler = (attempt) -> {
			if (this.attempts.size() == 1) {
				attempt.awaitAnswer();
				this.settler.notReached(attempt);
			}
		};

		Delivery delivery = dispatch();

		assertThat(this.attempts).hasSize(2);
		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(breaker.getState()).isEqualTo(CircuitBreaker.State.CLOSED);
	}

	/** Half open, until the outcome of one attempt is known. */
	private CircuitBreaker breakerThatPermitsOneAttempt() {
		CircuitBreakerRegistry breakers = CircuitBreakerRegistry
			.of(CircuitBreakerConfig.custom().permittedNumberOfCallsInHalfOpenState(1).build());
		// One that is not there yet has the configuration of its name, or ours.
		CircuitBreaker breaker = breakers.circuitBreaker("batch");
		this.circuits = new Circuits(
				new OutageSettings(true, "batch", null, Duration.ofMinutes(5), Integer.MAX_VALUE, Duration.ZERO),
				breakers, null, this.clock::nanoTime);
		breaker.transitionToOpenState();
		breaker.transitionToHalfOpenState();
		return breaker;
	}

	private Delivery admit() {
		long offset = this.assignment.ledger().next();
		return this.assignment.admit(Records.record(Records.partition(0), offset, 10), RecordContext.DEFAULT,
				this.clock.nanoTime());
	}

	private Delivery dispatch() {
		Delivery delivery = admit();
		this.dispatcher.submit(this.assignment.queues().own().get(0), delivery);
		return delivery;
	}

	private void passTime(Duration duration) {
		this.clock.advance(duration);
		this.timer.runDue();
	}

	private boolean run(Delivery delivery, int slot) {
		RecordDecoder decoder = new RecordDecoder(PartDecoder.single("key", new ByteArrayDeserializer()),
				PartDecoder.single("value", this.values));
		return new HandlerRunner(decoder, (record, acknowledgment, consumer) -> {
			Attempt attempt = (Attempt) Objects.requireNonNull(acknowledgment);
			this.attempts.add(attempt);
			call(attempt);
		}, new MockConsumer<>("earliest"),
				new AttemptOpener(this.settler, this.clock,
						new AttemptTimeout(Duration.ofSeconds(30), 1, Duration.ofSeconds(30)), this.circuits),
				Surroundings.NONE)
			.run(delivery, slot);
	}

	private void call(Attempt attempt) {
		try {
			this.handler.handle(attempt);
		}
		catch (Exception ex) {
			SettlerTests.<RuntimeException>sneak(ex);
		}
	}

	@SuppressWarnings("unchecked")
	private static <E extends Exception> void sneak(Exception error) throws E {
		throw (E) error;
	}

	private Settler settler(@Nullable DeadLetters deadLetters) {
		Backoff backoff = new Backoff(Duration.ofMillis(100), 2, Duration.ofSeconds(1), () -> 1);
		Routes routes = new Routes(new RetryTopics(this.tiers, "{topic}-park", List.of("orders")),
				(deadLetters != null) ? "{topic}-dlq" : null, this.aside);
		return new Settler(new RetryRule(3, 3, backoff, this.exceptions), routes,
				(deadLetters != null) ? deadLetters : (delivery, failure, destination) -> {
					throw new IllegalStateException("Nowhere to go");
				}, this.dispatcher, new Retries(this.timer, this.dispatcher, 1), this.overstays, this.outcomes,
				this.clock, this.outOfMemory::set);
	}

	private interface Handler {

		void handle(Attempt attempt) throws Exception;

	}

}
