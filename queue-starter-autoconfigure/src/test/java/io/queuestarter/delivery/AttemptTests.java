package io.queuestarter.delivery;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Attempt.Progress;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.NoAnswers;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AttemptTests {

	private final ManualClock clock = new ManualClock();

	private final NoAnswers answers = new NoAnswers();

	private final Assignment assignment = Records
		.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}));

	private long offset;

	@Test
	void firstClaimWins() {
		Attempt attempt = start();

		assertThat(attempt.claim()).isEqualTo(Progress.OPEN);
		assertThat(attempt.claim()).isEqualTo(Progress.ANSWERED);
		assertThat(attempt.detach()).isFalse();
	}

	@Test
	void claimOfADetachedAttemptSaysSoOnce() {
		Attempt attempt = start();

		assertThat(attempt.detach()).isTrue();
		assertThat(attempt.detach()).isFalse();

		assertThat(attempt.claim()).isEqualTo(Progress.DETACHED);
		assertThat(attempt.claim()).isEqualTo(Progress.ANSWERED);
	}

	@Test
	void answersArePassedOnInTheirOwnWords() {
		Attempt attempt = start();

		attempt.ack();
		attempt.acknowledge();
		attempt.nack(Duration.ofSeconds(1));
		attempt.retryAfter(Duration.ZERO);
		attempt.reject("no such order");

		assertThat(this.answers.received()).containsExactly("handled", "handled", "retryAfter PT1S", "retryAfter PT0S",
				"rejected no such order");
		assertThatIllegalArgumentException().isThrownBy(() -> attempt.retryAfter(Duration.ofNanos(-1)))
			.withMessage("'delay' must not be negative: PT-0.000000001S");
	}

	@Test
	void deadlineCountsFromTheStartOfTheAttempt() {
		this.clock.advance(Duration.ofHours(1));
		Attempt attempt = start();
		assertThat(attempt.remaining()).isEqualTo(Duration.ofSeconds(30));

		this.clock.advance(Duration.ofSeconds(20));
		assertThat(attempt.remaining()).isEqualTo(Duration.ofSeconds(10));
		assertThat(attempt.deadline()).isEqualTo(this.clock.now().plusSeconds(10));
		assertThat(attempt.isOverdue(this.clock.nanoTime())).isFalse();
		this.clock.advance(Duration.ofSeconds(10));

		assertThat(attempt.isOverdue(this.clock.nanoTime())).isTrue();
		assertThat(attempt.remaining()).isZero();
		attempt.claim();
		assertThat(attempt.isOverdue(this.clock.nanoTime())).isFalse();
	}

	@Test
	void firstDecisionTellsWhetherTheHandlerWasCutOff() {
		Attempt answered = start();
		answered.claim();
		assertThat(answered.cutOff()).isEqualTo(Progress.ANSWERED);
		assertThat(answered.isCutOff()).isFalse();

		Attempt cut = start();
		assertThat(cut.cutOff()).isEqualTo(Progress.OPEN);
		assertThat(cut.claim()).isEqualTo(Progress.CUT_OFF);
		assertThat(cut.isCutOff()).isTrue();
		assertThat(cut.isOverdue(Long.MAX_VALUE)).isFalse();
	}

	@Test
	void answeredAttemptOverstaysUntilItIsCancelledOrItsHandlerEnds() {
		Attempt attempt = start();
		attempt.enter();
		this.clock.advance(Duration.ofSeconds(30));
		assertThat(attempt.isOverstaying(this.clock.nanoTime())).as("overdue").isFalse();

		attempt.claim();
		assertThat(attempt.isOverstaying(this.clock.nanoTime() - 1)).isFalse();
		assertThat(attempt.isOverstaying(this.clock.nanoTime())).isTrue();
		attempt.leave();
		assertThat(attempt.isOverstaying(this.clock.nanoTime())).isFalse();
	}

	@Test
	void detachedAttemptBecomesOverdueToo() {
		Attempt attempt = start();
		attempt.detach();

		this.clock.advance(Duration.ofSeconds(31));

		assertThat(attempt.isOverdue(this.clock.nanoTime())).isTrue();
	}

	@Test
	void endlessTimeoutIsNeverOverdue() {
		this.clock.advance(Duration.ofDays(1));
		Attempt attempt = Objects.requireNonNull(admit().start(this.answers, 0, this.clock,
				new AttemptTimeout(Duration.ofNanos(Long.MAX_VALUE), 1, Duration.ofNanos(Long.MAX_VALUE)),
				Trust.circuit()));

		this.clock.advance(Duration.ofDays(10_000));

		assertThat(attempt.isOverdue(this.clock.nanoTime())).isFalse();
	}

	@Test
	void cancelInterruptsTheRunnerAndLeaveClearsTheFlag() {
		Attempt attempt = start();
		attempt.enter();

		attempt.cancel();

		assertThat(attempt.isCancelled()).isTrue();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		attempt.leave();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void cancelAfterTheRunnerHasLeftInterruptsNobody() {
		Attempt attempt = start();
		attempt.enter();
		attempt.leave();

		attempt.cancel();

		assertThat(attempt.isCancelled()).isTrue();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void attemptCancelledBeforeItsRunnerEntersInterruptsItOnEntry() {
		Attempt attempt = start();

		attempt.cancel();
		attempt.enter();

		assertThat(Thread.interrupted()).isTrue();
		attempt.leave();
	}

	@Test
	void U13_cancelActionRunsOnceHoweverOftenTheAttemptIsCancelled() {
		AtomicInteger runs = new AtomicInteger();
		Attempt attempt = start();
		attempt.onCancel(runs::incrementAndGet);
		assertThat(runs).hasValue(0);

		attempt.cancel();
		attempt.cancel();

		assertThat(runs).hasValue(1);
	}

	@Test
	void U13_cancelActionOfACancelledAttemptRunsAtOnce() {
		AtomicInteger runs = new AtomicInteger();
		Attempt attempt = start();

		attempt.cancel();
		attempt.onCancel(runs::incrementAndGet);

		assertThat(runs).hasValue(1);
	}

	@Test
	void U13_cancelActionThatThrowsHarmsNobody() {
		Attempt attempt = start();
		attempt.onCancel(() -> {
			throw new IllegalStateException("from user code");
		});

		attempt.cancel();

		assertThat(attempt.isCancelled()).isTrue();
	}

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	@Tag("threads")
	@Timeout(60)
	void interruptNeverLeaksToTheNextTask(ThreadFactory threads) throws Exception {
		int rounds = 200_000;
		AtomicReference<@Nullable Attempt> current = new AtomicReference<>();
		AtomicInteger leaks = new AtomicInteger();
		AtomicInteger hits = new AtomicInteger();
		ExecutorService worker = Executors.newSingleThreadExecutor(threads);
		worker.execute(() -> {
			for (int round = 0; round < rounds; round++) {
				if (Thread.currentThread().isInterrupted()) {
					leaks.incrementAndGet();
				}
				Attempt attempt = start();
				current.set(attempt);
				attempt.enter();
				for (int spin = round & 63; spin > 0 && !Thread.currentThread().isInterrupted(); spin--) {
					Thread.onSpinWait();
				}
				hits.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
				attempt.leave();
				attempt.delivery().settle(DeliveryState.IN_FLIGHT);
				this.assignment.ledger().advance();
			}
			current.set(null);
		});
		worker.shutdown();

		while (!worker.awaitTermination(0, TimeUnit.NANOSECONDS)) {
			Attempt attempt = current.get();
			if (attempt != null) {
				attempt.cancel();
			}
		}

		assertThat(leaks).hasValue(0);
		assertThat(hits.get()).isPositive();
	}

	private Attempt start() {
		return Objects.requireNonNull(admit().start(this.answers, 0, this.clock,
				new AttemptTimeout(Duration.ofSeconds(30), 1, Duration.ofSeconds(30)), Trust.circuit()));
	}

	private Delivery admit() {
		return this.assignment.admit(Records.record(Records.partition(0), this.offset++, 10), RecordContext.DEFAULT,
				this.clock.nanoTime());
	}

}
