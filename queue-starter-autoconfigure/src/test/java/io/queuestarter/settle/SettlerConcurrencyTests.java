package io.queuestarter.settle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.retry.Backoff;
import io.queuestarter.retry.Retries;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.ManualTimer;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Seeds;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Answers, timeout and loss of one attempt at the same moment.
 */
@Tag("threads")
@Timeout(120)
class SettlerConcurrencyTests {

	private static final int ROUNDS = 5_000;

	private static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofNanos(1), 1, Duration.ofNanos(1));

	private final ManualClock clock = new ManualClock();

	private final ManualTimer timer = new ManualTimer(this.clock);

	private final Outcomes outcomes = new Outcomes();

	private final AtomicInteger parked = new AtomicInteger();

	private final BlockingQueue<Attempt> attempts = new ArrayBlockingQueue<>(1);

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	void exactlyOneOutcomeTakesEffectAndTheSlotIsReleasedOnce(ThreadFactory threads) throws Exception {
		SplittableRandom random = Seeds.random("SettlerConcurrencyTests");
		ExecutorService pool = Executors.newCachedThreadPool(threads);
		Settler[] settler = new Settler[1];
		Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, pool,
				(delivery, slot) -> run(settler[0], delivery, slot), () -> {
				});
		settler[0] = new Settler(
				new RetryRule(1, 1, new Backoff(Duration.ofDays(1), 1, Duration.ofDays(1), () -> 1),
						ExceptionPolicy.RETRY_ALL),
				new Routes(new RetryTopics(List.of(), null, List.of()), "{topic}-dlq", Routes.Aside.DLQ),
				(delivery, failure, destination) -> this.parked.incrementAndGet(), dispatcher,
				new Retries(this.timer, dispatcher, 1), new Overstays(dispatcher, Duration.ofDays(1), 1, this.clock),
				this.outcomes, this.clock, (error) -> {
				});
		List<Consumer<Attempt>> answers = List.of(Attempt::ack, (attempt) -> attempt.reject("no"),
				(attempt) -> settler[0].failed(attempt, new IllegalStateException("down")),
				(attempt) -> settler[0].failed(attempt, new OutOfMemoryError("test")),
				(attempt) -> settler[0].timeOutOverdue(), (attempt) -> attempt.delivery().letGo());
		Map<DeliveryState, Integer> ends = new EnumMap<>(DeliveryState.class);
		for (int round = 0; round < ROUNDS; round++) {
			Assignment assignment = Records.assignment(dispatcher);
			Delivery delivery = assignment.admit(Records.record(Records.partition(0), 0, 10), RecordContext.DEFAULT,
					this.clock.nanoTime());
			dispatcher.submit(assignment.queues().own().get(0), delivery);
			Attempt attempt = Objects.requireNonNull(this.attempts.poll(20, TimeUnit.SECONDS), "a slot was lost");
			this.clock.advance(Duration.ofSeconds(1));

			race(pool, attempt, answers.get(random.nextInt(answers.size())),
					answers.get(random.nextInt(answers.size())));

			ends.merge(delivery.state(), 1, Integer::sum);
			assertThat(delivery.state()).isIn(DeliveryState.SETTLED, DeliveryState.DEAD_LETTERING,
					DeliveryState.LET_GO);
			assertThat(assignment.outstanding()).isEqualTo((delivery.state() == DeliveryState.DEAD_LETTERING) ? 1 : 0);
			assertThat(assignment.ledger().advance()).isEqualTo((delivery.state() == DeliveryState.SETTLED) ? 1 : 0);
			dispatcher.close(assignment.queues().own().get(0));
		}
		pool.shutdown();
		assertThat(pool.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
		assertThat(dispatcher.inFlight()).isZero();
		assertThat(this.outcomes.acknowledgedCount()).isEqualTo(count(ends, DeliveryState.SETTLED));
		// Some were let go while they were being dead-lettered.
		int deadLettering = count(ends, DeliveryState.DEAD_LETTERING);
		assertThat(this.parked.get()).isBetween(deadLettering, deadLettering + count(ends, DeliveryState.LET_GO));
	}

	private static int count(Map<DeliveryState, Integer> ends, DeliveryState state) {
		return ends.getOrDefault(state, 0);
	}

	private static void race(ExecutorService pool, Attempt attempt, Consumer<Attempt> first, Consumer<Attempt> second)
			throws Exception {
		CountDownLatch start = new CountDownLatch(2);
		List<Future<?>> racers = new ArrayList<>();
		for (Consumer<Attempt> answer : List.of(first, second)) {
			racers.add(pool.submit(() -> {
				start.countDown();
				start.await();
				answer.accept(attempt);
				return null;
			}));
		}
		for (Future<?> racer : racers) {
			racer.get(20, TimeUnit.SECONDS);
		}
	}

	/** Half of the attempts are answered while their handler is about to return. */
	private boolean run(Settler settler, Delivery delivery, int slot) {
		Attempt attempt = delivery.start(settler, slot, this.clock, TIMEOUT, Trust.circuit());
		if (attempt == null) {
			return true;
		}
		attempt.enter();
		this.attempts.add(attempt);
		attempt.leave();
		return !attempt.detach();
	}

}
