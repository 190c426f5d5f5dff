package io.queuestarter.benchmarks;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZJ_Result;
import org.openjdk.jcstress.infra.results.ZZZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Attempt.Progress;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.outage.Circuit;
import io.queuestarter.outage.Circuits;
import io.queuestarter.outage.OutageSettings;

/**
 * An answer, a start and the loss of the partition meet at one record.
 */
public final class DeliveryRaces {

	private static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofNanos(1), 1, Duration.ofNanos(1));

	private static final Circuit CIRCUIT = new Circuits(
			new OutageSettings(false, "races", null, Duration.ofMinutes(5), 1, Duration.ZERO),
			CircuitBreakerRegistry.ofDefaults(), null, () -> 0)
		.of(null);

	private static final Answers NO_ANSWERS = new NoAnswers();

	private static final Dispatcher<Delivery> DISPATCHER = new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true,
			() -> {
			});

	private DeliveryRaces() {
	}

	private static Delivery delivery() {
		ByteBudget budget = new ByteBudget(100, () -> {
		});
		Assignment assignment = new Assignment(new TopicPartition("orders", 0), Stage.source("orders"),
				new PartitionLedger<>(1, 0, OffsetRanges.EMPTY), 0, -1, LaneQueues.of(DISPATCHER.open(0)), budget,
				budget, () -> {
				});
		return assignment.admit(new ConsumerRecord<>("orders", 0, 0, 0, TimestampType.CREATE_TIME, -1, 1, null,
				new byte[1], new RecordHeaders(), Optional.empty()), RecordContext.DEFAULT, 0);
	}

	private static Attempt start(Delivery delivery) {
		return Objects.requireNonNull(delivery.start(NO_ANSWERS, 0, TimeSource.SYSTEM, TIMEOUT, CIRCUIT));
	}

	/**
	 * The handler's answer and the loss of the partition.
	 */
	@JCStressTest
	@Outcome(id = "true, false, 1", expect = Expect.ACCEPTABLE, desc = "Settled")
	@Outcome(id = "false, true, 0", expect = Expect.ACCEPTABLE, desc = "Let go")
	@Outcome(expect = Expect.FORBIDDEN, desc = "Both or neither, or the ledger says something else")
	@State
	public static class SettleMeetsLetGo {

		private final Delivery delivery = delivery();

		/**
		 * The handler runs.
		 */
		public SettleMeetsLetGo() {
			start(this.delivery);
		}

		/**
		 * The answer.
		 * @param result whether it took effect
		 */
		@Actor
		public void settle(ZZJ_Result result) {
			result.r1 = this.delivery.settle(DeliveryState.IN_FLIGHT);
		}

		/**
		 * The loss.
		 * @param result whether it took effect
		 */
		@Actor
		public void letGo(ZZJ_Result result) {
			result.r2 = this.delivery.letGo();
		}

		/**
		 * What is seen in the end.
		 * @param result the watermark, or a negative number if something is still held
		 */
		@Arbiter
		public void arbiter(ZZJ_Result result) {
			Assignment assignment = this.delivery.assignment();
			result.r3 = (assignment.outstanding() == 0 && assignment.bytes().held() == 0)
					? assignment.ledger().advance() : -1;
		}

	}

	/**
	 * A worker starts the record while the partition is lost.
	 */
	@JCStressTest
	@Outcome(id = "true, true, true", expect = Expect.ACCEPTABLE, desc = "Started, cut off, and told")
	@Outcome(id = "false, false, true", expect = Expect.ACCEPTABLE, desc = "Let go before it was started")
	@Outcome(expect = Expect.FORBIDDEN, desc = "A handler runs on without being told")
	@State
	public static class StartMeetsLetGo {

		private final Delivery delivery = delivery();

		private volatile boolean cancelled = true;

		/**
		 * The start.
		 * @param result whether it took effect
		 */
		@Actor
		public void start(ZZZ_Result result) {
			Attempt attempt = this.delivery.start(NO_ANSWERS, 0, TimeSource.SYSTEM, TIMEOUT, CIRCUIT);
			result.r1 = attempt != null;
			if (attempt != null) {
				this.cancelled = false;
				attempt.onCancel(() -> this.cancelled = true);
			}
		}

		/**
		 * The loss.
		 * @param result whether an attempt was cut off
		 */
		@Actor
		public void letGo(ZZZ_Result result) {
			result.r2 = this.delivery.letGo();
		}

		/**
		 * What is seen in the end.
		 * @param result whether the attempt, if there is one, is cancelled
		 */
		@Arbiter
		public void arbiter(ZZZ_Result result) {
			result.r3 = this.cancelled;
		}

	}

	/**
	 * Two answers to one attempt.
	 */
	@JCStressTest
	@Outcome(id = { "true, false", "false, true" }, expect = Expect.ACCEPTABLE, desc = "One of them counts")
	@Outcome(expect = Expect.FORBIDDEN, desc = "Both or none count")
	@State
	public static class FirstAnswerCounts {

		private final Attempt attempt = DeliveryRaces.start(delivery());

		/**
		 * One answer.
		 * @param result whether it counts
		 */
		@Actor
		public void one(ZZ_Result result) {
			result.r1 = this.attempt.claim() != Progress.ANSWERED;
		}

		/**
		 * The other answer.
		 * @param result whether it counts
		 */
		@Actor
		public void other(ZZ_Result result) {
			result.r2 = this.attempt.claim() != Progress.ANSWERED;
		}

	}

	/** Draws no consequence. */
	private static final class NoAnswers implements Answers {

		@Override
		public void handled(Attempt attempt) {
			// Not told.
		}

		@Override
		public void failed(Attempt attempt, Throwable error) {
			// Not told.
		}

		@Override
		public void failedTogether(Attempt attempt, Throwable error) {
			// Not told.
		}

		@Override
		public void notReached(Attempt attempt) {
			// Not told.
		}

		@Override
		public void retryAfter(Attempt attempt, Duration delay) {
			// Not told.
		}

		@Override
		public void rejected(Attempt attempt, String reason) {
			// Not told.
		}

		@Override
		public void refused(Delivery delivery, Circuit circuit) {
			// There is always a permit.
		}

		@Override
		public void notStarted(Delivery queued, Throwable error) {
			// Nothing throws.
		}

		@Override
		public void abandoned(Attempt attempt) {
			// Not told.
		}

	}

}
