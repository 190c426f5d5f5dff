package io.queuestarter.delivery;

import java.time.Duration;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.outage.Circuit;
import io.queuestarter.testkit.Interleavings;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

/**
 * Start, answer, back-off and loss of one record meet: each takes effect as if alone, and
 * what is held for the record is given back once.
 */
@Tag("lincheck")
class DeliveryLincheckTests {

	@Test
	void noScheduleBreaksTheDelivery() {
		Interleavings.explore(Operations.class);
	}

	@Test
	void deliveryStandsStress() {
		Interleavings.stress(Operations.class);
	}

	/**
	 * What workers, timer and consumer thread do to a record.
	 */
	public static class Operations implements Answers {

		private static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofNanos(1), 1, Duration.ofNanos(1));

		private static final Circuit CIRCUIT = Trust.circuit();

		private final Assignment assignment = Records
			.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
			}));

		private final Delivery delivery = this.assignment.admit(Records.record(Records.partition(0), 0, 10),
				RecordContext.DEFAULT, 0);

		private final TimeSource time = new ManualClock();

		/** One worker at a time has the record, since it is dispatched once. */
		@Operation(nonParallelGroup = "worker")
		public boolean start() {
			return this.delivery.start(this, 0, this.time, TIMEOUT, CIRCUIT) != null;
		}

		@Operation
		public boolean settle() {
			return this.delivery.settle(DeliveryState.IN_FLIGHT);
		}

		@Operation
		public boolean backOff() {
			return this.delivery.move(DeliveryState.IN_FLIGHT, DeliveryState.BACKOFF);
		}

		@Operation(nonParallelGroup = "worker")
		public boolean becomeDue() {
			return this.delivery.move(DeliveryState.BACKOFF, DeliveryState.QUEUED);
		}

		@Operation
		public boolean letGo() {
			return this.delivery.letGo();
		}

		@Operation
		public boolean isEnded() {
			return this.delivery.isEnded();
		}

		@Validate
		public void heldUntilItEnds() {
			int held = this.delivery.isEnded() ? 0 : 1;
			if (this.assignment.outstanding() != held || this.assignment.bytes().held() != 10L * held
					|| (this.delivery.record() != null) != (held == 1)) {
				throw new IllegalStateException(this.delivery.state() + " with " + this.assignment.outstanding()
						+ " outstanding of " + this.assignment.bytes().held() + " bytes");
			}
			if (this.assignment.ledger().advance() != ((this.delivery.state() == DeliveryState.SETTLED) ? 1 : 0)) {
				throw new IllegalStateException(this.delivery.state() + " at " + this.assignment.ledger().watermark());
			}
		}

		@Override
		public void handled(Attempt attempt) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void failed(Attempt attempt, Throwable error) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void failedTogether(Attempt attempt, Throwable error) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void notReached(Attempt attempt) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void retryAfter(Attempt attempt, Duration delay) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void rejected(Attempt attempt, String reason) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void refused(Delivery refused, Circuit circuit) {
			// There is always a permit.
		}

		@Override
		public void notStarted(Delivery queued, Throwable error) {
			// Nothing throws.
		}

		@Override
		public void abandoned(Attempt attempt) {
			// Whoever let the record go is the one who knows.
		}

	}

}
