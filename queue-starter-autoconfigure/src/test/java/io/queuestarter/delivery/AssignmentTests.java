package io.queuestarter.delivery;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;

class AssignmentTests {

	/**
	 * A drain waits until nothing is outstanding and commits what the ledger knows then.
	 */
	@Test
	void ledgerKnowsOfASettledRecordBeforeItIsNoLongerOutstanding() {
		List<Runnable> released = new ArrayList<>();
		Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, (worker) -> {
		}, (delivery, slot) -> true, () -> {
		});
		Assignment assignment = Records.assignment(dispatcher, 0, OffsetRanges.EMPTY,
				new ByteBudget(10, () -> released.forEach(Runnable::run)), () -> {
				});
		Delivery delivery = assignment.admit(Records.record(Records.partition(0), 0, 10), RecordContext.DEFAULT, 0);
		AtomicLong watermark = new AtomicLong(-1);
		released.add(() -> watermark.set(assignment.ledger().advance()));

		delivery.move(DeliveryState.QUEUED, DeliveryState.IN_FLIGHT);
		delivery.settle(DeliveryState.IN_FLIGHT);

		assertThat(assignment.outstanding()).isZero();
		assertThat(watermark).hasValue(1);
	}

	/** As in a merge, whose letters stay in their topic when they are let go. */
	@Test
	void recordThatWasLetGoHoldsUpNobodyOnceItIsForgotten() {
		Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, (worker) -> {
		}, (delivery, slot) -> true, () -> {
		});
		Assignment assignment = Records.assignment(dispatcher);
		Delivery waiting = assignment.admit(Records.record(Records.partition(0), 0, 10), RecordContext.DEFAULT, 0);
		Delivery gone = assignment.admit(Records.record(Records.partition(0), 1, 10), RecordContext.DEFAULT, 0);
		gone.letGo();
		assignment.forget(waiting);
		assignment.forget(gone);
		assertThat(assignment.ledger().advance()).isZero();

		waiting.letGo();
		assignment.forget(waiting);

		assertThat(assignment.ledger().advance()).isEqualTo(2);
		assertThat(assignment.ledger().tracked()).isZero();
	}

}
