package io.queuestarter.delivery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.queuestarter.context.RecordContext;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.NoAnswers;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;

class DeliveryTests {

	private static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofNanos(1_000), 1,
			Duration.ofNanos(1_000));

	private final ManualClock clock = new ManualClock();

	private final NoAnswers answers = new NoAnswers();

	private final AtomicInteger toldOfRoom = new AtomicInteger();

	private final AtomicInteger toldOfHead = new AtomicInteger();

	private final ByteBudget common = new ByteBudget(100, this.toldOfRoom::incrementAndGet);

	private final Assignment assignment = Records
		.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}), 0, OffsetRanges.EMPTY, this.common, this.toldOfHead::incrementAndGet);

	@Test
	void admittedRecordIsQueuedAndHoldsItsBytes() {
		Delivery delivery = admit(0);

		assertThat(delivery.state()).isEqualTo(DeliveryState.QUEUED);
		assertThat(delivery.record()).isNotNull();
		assertThat(delivery.attempt()).isNull();
		assertThat(delivery.size()).isEqualTo(10);
		assertThat(delivery).hasToString("orders-0@0");
		assertThat(this.assignment.outstanding()).isOne();
		assertThat(this.assignment.bytes().held()).isEqualTo(10);
		assertThat(this.common.held()).isEqualTo(10);
	}

	@Test
	void attemptsAreNumberedFromOne() {
		Delivery delivery = admit(0);

		assertThat(start(delivery).attempt()).isOne();
		delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.BACKOFF);
		delivery.move(DeliveryState.BACKOFF, DeliveryState.QUEUED);

		assertThat(start(delivery).attempt()).isEqualTo(2);
	}

	@Test
	void recordIsBegunFromItsFirstAttemptOn() {
		Delivery delivery = admit(0);
		assertThat(delivery.isBegun()).isFalse();

		start(delivery);
		assertThat(delivery.isBegun()).isTrue();
		delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.BACKOFF);
		delivery.move(DeliveryState.BACKOFF, DeliveryState.QUEUED);
		assertThat(delivery.isBegun()).isTrue();
		delivery.letGo();
		assertThat(delivery.isBegun()).isTrue();
	}

	@Test
	void recordLetGoBeforeItsFirstAttemptWasNeverBegun() {
		Delivery delivery = admit(0);

		delivery.letGo();

		assertThat(delivery.isBegun()).isFalse();
	}

	@Test
	void endOfWhatWasBegunLiesBehindTheHighestRecordBegunOrSettled() {
		admit(0);
		Delivery second = admit(1);
		Delivery third = admit(5);
		admit(6);
		assertThat(this.assignment.begun()).isZero();

		start(second);
		assertThat(this.assignment.begun()).isEqualTo(2);
		start(third);
		assertThat(this.assignment.begun()).isEqualTo(6);
		third.settle(DeliveryState.IN_FLIGHT);
		assertThat(this.assignment.begun()).isEqualTo(6);
	}

	@Test
	void settledDeliveryLetsGoOfItsRecordAndGivesBackItsBytes() {
		Delivery delivery = admit(0);
		start(delivery);

		assertThat(delivery.settle(DeliveryState.IN_FLIGHT)).isTrue();

		assertThat(delivery.state()).isEqualTo(DeliveryState.SETTLED);
		assertThat(delivery.isEnded()).isTrue();
		assertThat(delivery.record()).isNull();
		assertThat(delivery.attempt()).isNull();
		assertThat(this.assignment.outstanding()).isZero();
		assertThat(this.assignment.bytes().held()).isZero();
		assertThat(this.common.held()).isZero();
		assertThat(this.assignment.ledger().advance()).isOne();
	}

	@Test
	void deliveryIsSettledOnce() {
		Delivery delivery = admit(0);
		start(delivery);
		delivery.settle(DeliveryState.IN_FLIGHT);

		assertThat(delivery.settle(DeliveryState.IN_FLIGHT)).isFalse();
		assertThat(delivery.letGo()).isFalse();

		assertThat(this.common.held()).isZero();
		assertThat(this.assignment.outstanding()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "QUEUED", "BACKOFF", "DEAD_LETTER_HELD" })
	void idleDeliveryIsLetGoUnsettled(DeliveryState state) {
		Delivery delivery = admit(0);
		bring(delivery, state);

		assertThat(delivery.letGoIfIdle()).isTrue();

		assertLetGo(delivery);
		assertThat(this.answers.received()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "IN_FLIGHT", "DEAD_LETTERING" })
	void busyDeliveryIsLetGoOnlyByForce(DeliveryState state) {
		Delivery delivery = admit(0);
		Attempt attempt = Objects.requireNonNull(bring(delivery, state));
		assertThat(delivery.letGoIfIdle()).isFalse();
		assertThat(delivery.state()).isEqualTo(state);

		assertThat(delivery.letGo()).isTrue();

		assertLetGo(delivery);
		assertThat(attempt.isCancelled()).isEqualTo(state == DeliveryState.IN_FLIGHT);
		assertThat(this.answers.received().contains("abandoned")).isEqualTo(state == DeliveryState.IN_FLIGHT);
	}

	@Test
	void deliveryLetGoIsNotStarted() {
		Delivery delivery = admit(0);
		delivery.letGo();

		assertThat(delivery.start(this.answers, 0, this.clock, TIMEOUT, Trust.circuit())).isNull();
		assertThat(delivery.attempt()).isNull();
	}

	@Test
	void deliveryLetGoIsNeverSettled() {
		Delivery delivery = admit(0);
		start(delivery);
		delivery.letGo();

		assertThat(delivery.settle(DeliveryState.IN_FLIGHT)).isFalse();
		assertThat(delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.BACKOFF)).isFalse();

		assertThat(this.assignment.ledger().advance()).isZero();
		assertThat(this.common.held()).isZero();
	}

	@Test
	void settlingOfTheHeadIsToldWhileItMakesRoom() {
		Delivery nobodyWaits = admit(0);
		start(nobodyWaits);
		nobodyWaits.settle(DeliveryState.IN_FLIGHT);
		this.assignment.ledger().advance();
		assertThat(this.toldOfHead).hasValue(0);

		List<Delivery> deliveries = new ArrayList<>();
		for (int offset = 1; offset <= 20; offset++) {
			deliveries.add(admit(offset));
		}
		assertThat(this.assignment.isOverBytes()).isTrue();
		start(deliveries.get(0));
		start(deliveries.get(1));
		deliveries.get(1).settle(DeliveryState.IN_FLIGHT);
		assertThat(this.toldOfHead).hasValue(0);
		deliveries.get(0).settle(DeliveryState.IN_FLIGHT);

		assertThat(this.toldOfHead).hasValue(1);
	}

	@Test
	void roomIsToldOnceTheBytesHeldAreBelowTheLimit() {
		List<Delivery> deliveries = new ArrayList<>();
		for (int offset = 0; offset < 10; offset++) {
			deliveries.add(admit(offset));
		}
		assertThat(this.assignment.isOverBytes()).isTrue();
		assertThat(this.common.isSpent()).isTrue();

		deliveries.subList(0, 4).forEach(Delivery::letGo);
		assertThat(this.toldOfRoom).hasValue(1);
		assertThat(this.assignment.isOverBytes()).isFalse();
		deliveries.forEach(Delivery::letGo);

		assertThat(this.toldOfRoom).hasValue(1);
		assertThat(this.common.isSpent()).isFalse();
	}

	@Test
	void keyValueAndHeadersCount() {
		var record = Records.record(Records.partition(0), 0, 10);
		record.headers().add("trace", new byte[7]).add("empty", null);

		assertThat(this.assignment.admit(record, RecordContext.DEFAULT, 0).size()).isEqualTo(10 + 5 + 7 + 5);
	}

	@Test
	void lastErrorIsASimpleName() {
		Delivery delivery = admit(0);
		assertThat(delivery.lastError()).isNull();

		delivery.failedWith(new IllegalStateException("text that may hold a payload"), 0, false);

		assertThat(delivery.lastError()).isEqualTo("IllegalStateException");
	}

	@Test
	void recordHasUsedUpItsAttemptsWhenFailuresOrTimeoutsReachTheirLimit() {
		assertThat(fails(admit(0), 0, false, false, 3)).containsExactly(false, false, true);
		assertThat(fails(admit(1), 0, false, true, 2)).containsExactly(false, true);
	}

	@Test
	void failureInDoubtDoesNotCount() {
		Delivery delivery = admit(0);

		assertThat(fails(delivery, 0, true, true, 10)).containsOnly(false);

		assertThat(delivery.countedFailures()).isZero();
		assertThat(delivery.timeouts()).isZero();
		assertThat(delivery.failedTrials()).isEqualTo(10);
	}

	@Test
	void whatWasCountedBeforeAnOutageIsForgotten() {
		Delivery delivery = admit(0);
		fails(delivery, 0, false, true, 1);
		fails(delivery, 0, false, false, 1);
		fails(delivery, 0, true, false, 1);

		assertThat(delivery.countFailure(1, true, false, 3, 2)).isFalse();
		assertThat(delivery.countedFailures()).isZero();
		assertThat(delivery.timeouts()).isZero();
		assertThat(delivery.failedTrials()).isOne();

		assertThat(fails(delivery, 1, false, false, 3)).containsExactly(false, false, true);
	}

	@Test
	void timeoutThatCountsLetsTheNextAttemptTakeLongerAndOneInDoubtDoesNot() {
		AttemptTimeout growing = new AttemptTimeout(Duration.ofSeconds(1), 2, Duration.ofMinutes(1));
		Delivery delivery = admit(0);
		assertThat(timeOut(delivery, growing, true)).isEqualTo(Duration.ofSeconds(1));
		assertThat(timeOut(delivery, growing, false)).isEqualTo(Duration.ofSeconds(1));
		assertThat(timeOut(delivery, growing, true)).isEqualTo(Duration.ofSeconds(2));

		assertThat(timeOut(delivery, growing, true)).isEqualTo(Duration.ofSeconds(2));
	}

	/*
	 * Copies of dead letters, or what another queue of the same kind wrote, come with
	 * headers like ours.
	 */
	@Test
	void recordOfASourceIsAtItsBeginningWhateverItsHeadersSay() {
		Delivery delivery = this.assignment.admit(withCounts(), RecordContext.DEFAULT, 0);

		assertThat(delivery.history()).isEqualTo(new History(0, 0, 0, 0));
		assertThat(delivery.timeouts()).isZero();
		assertThat(start(delivery).attempt()).isOne();
	}

	@Test
	void recordOfAnOwnTopicGoesOnWithItsCounts() {
		Assignment own = new Assignment(Records.partition(0), new Stage("orders", Stage.Kind.RETRY, Duration.ZERO),
				new PartitionLedger<>(10, 0, OffsetRanges.EMPTY), 0, -1, this.assignment.queues(), this.common,
				this.common, () -> {
				});

		Delivery delivery = own.admit(withCounts(), RecordContext.DEFAULT, 0);

		assertThat(delivery.history()).isEqualTo(new History(2, 7, 5, 0));
		assertThat(delivery.timeouts()).isEqualTo(5);
		assertThat(start(delivery).attempt()).isEqualTo(8);
	}

	private static ConsumerRecord<byte[], byte[]> withCounts() {
		ConsumerRecord<byte[], byte[]> record = Records.record(Records.partition(0), 0, 10);
		record.headers()
			.add(History.RETRIES, new byte[] { '2' })
			.add(History.ATTEMPTS, new byte[] { '7' })
			.add(History.TIMEOUTS, new byte[] { '5' });
		return record;
	}

	/** Whether the record had used up its attempts, after each of some failures. */
	private static List<Boolean> fails(Delivery delivery, int openings, boolean inDoubt, boolean timedOut, int times) {
		return IntStream.range(0, times)
			.mapToObj((failure) -> delivery.countFailure(openings, inDoubt, timedOut, 3, 2))
			.toList();
	}

	/** Lets an attempt time out; answers how long it was to take. */
	private Duration timeOut(Delivery delivery, AttemptTimeout timeout, boolean inDoubt) {
		Attempt attempt = Objects.requireNonNull(delivery.start(this.answers, 0, this.clock, timeout, Trust.circuit()));
		delivery.countFailure(0, inDoubt, true, 100, 100);
		delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.QUEUED);
		return attempt.remaining();
	}

	@Test
	@Tag("threads")
	@Timeout(60)
	void exactlyOneOfAnswerAndLossTakesEffect() throws Exception {
		int rounds = 20_000;
		AtomicInteger settled = new AtomicInteger();
		int letGo = 0;
		CyclicBarrier barrier = new CyclicBarrier(2);
		Delivery[] deliveries = new Delivery[rounds];
		Assignment own = Records.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}));
		Thread worker = new Thread(() -> {
			for (int round = 0; round < rounds; round++) {
				await(barrier);
				Attempt attempt = deliveries[round].start(this.answers, 0, this.clock, TIMEOUT, Trust.circuit());
				if (attempt != null && deliveries[round].settle(DeliveryState.IN_FLIGHT)) {
					settled.incrementAndGet();
				}
				await(barrier);
			}
		});
		worker.start();

		for (int round = 0; round < rounds; round++) {
			deliveries[round] = own.admit(Records.record(Records.partition(0), round, 10), RecordContext.DEFAULT, 0);
			await(barrier);
			deliveries[round].letGo();
			await(barrier);
			if (deliveries[round].state() == DeliveryState.LET_GO) {
				letGo++;
				// Nothing else would let the window move on.
				own.ledger().settle(round);
			}
			assertThat(deliveries[round].attempt()).isNull();
			own.ledger().advance();
		}
		worker.join(10_000);

		assertThat(settled.get() + letGo).isEqualTo(rounds);
		assertThat(own.outstanding()).isZero();
		assertThat(own.bytes().held()).isZero();
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void assertLetGo(Delivery delivery) {
		assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(delivery.isEnded()).isTrue();
		assertThat(delivery.letGoIfIdle()).isTrue();
		assertThat(delivery.record()).isNull();
		assertThat(delivery.attempt()).isNull();
		assertThat(this.assignment.outstanding()).isZero();
		assertThat(this.assignment.bytes().held()).isZero();
		assertThat(this.common.held()).isZero();
		assertThat(this.assignment.ledger().advance()).isZero();
		assertThat(this.assignment.ledger().settled()).isZero();
	}

	private @Nullable Attempt bring(Delivery delivery, DeliveryState state) {
		if (state == DeliveryState.QUEUED) {
			return null;
		}
		Attempt attempt = start(delivery);
		delivery.move(DeliveryState.IN_FLIGHT, state);
		return attempt;
	}

	private Delivery admit(long offset) {
		return this.assignment.admit(Records.record(Records.partition(0), offset, 10), RecordContext.DEFAULT,
				this.clock.nanoTime());
	}

	private Attempt start(Delivery delivery) {
		return Objects.requireNonNull(delivery.start(this.answers, 0, this.clock, TIMEOUT, Trust.circuit()));
	}

}
