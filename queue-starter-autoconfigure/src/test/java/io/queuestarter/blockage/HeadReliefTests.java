package io.queuestarter.blockage;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.mockito.BDDMockito;
import org.mockito.Mockito;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.Stage;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.log.LogLimit;
import io.queuestarter.settle.Settler;
import io.queuestarter.testkit.Records;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.then;

/**
 * Two lanes share a window of ten records, and what fills it is parked. A lane may do
 * without a success for ten seconds.
 */
class HeadReliefTests {

	private static final RecordContext TEST = new RecordContext("test", 1, null, false, List.of("tenancy"));

	private static final Runnable NOBODY = () -> {
	};

	private final Settler prod = Mockito.mock(Settler.class);

	private final Settler test = Mockito.mock(Settler.class);

	private final Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, (worker) -> {
	}, (task, slot) -> true, NOBODY);

	private final Assignment assignment = new Assignment(Records.partition(0), Stage.source("orders"),
			new PartitionLedger<>(10, 0, OffsetRanges.EMPTY), 0, -1,
			new LaneQueues(List.of(this.dispatcher.open(0), this.dispatcher.open(0)), List.of()),
			new ByteBudget(1 << 20, NOBODY), new ByteBudget(1 << 20, NOBODY), NOBODY);

	private final HeadRelief relief = new HeadRelief(new BlockageRule(true, 0.9, 0.98, 10, Duration.ofMinutes(5), 10),
			List.of(progress(this.prod), progress(this.test)), true, new LogLimit(() -> 0), 0);

	@Test
	void laneThatHadNothingToDoHasItsTimeOnceABacklogComes() {
		look(60);
		IntStream.range(0, 10)
			.forEach((offset) -> this.assignment.admit(Records.record(Records.partition(0), offset, 10), TEST,
					seconds(60)));

		look(61);
		look(69);
		then(this.test).should(Mockito.never()).moveAside(any(), any());
		look(71);

		then(this.test).should(Mockito.times(10)).moveAside(any(), any());
	}

	@Test
	void laneThatGoesOnIsLeftAlone() {
		IntStream.range(0, 10)
			.forEach((offset) -> this.assignment.admit(Records.record(Records.partition(0), offset, 10), TEST, 0));

		for (int second = 1; second < 60; second++) {
			BDDMockito.given(this.test.acknowledged()).willReturn(second / 9L);
			look(second);
		}

		then(this.test).should(Mockito.never()).moveAside(any(), any());
	}

	private void look(int second) {
		this.relief.lookIfDue(List.of(this.assignment), seconds(second));
	}

	private static LaneProgress progress(Settler settler) {
		return new LaneProgress(settler, seconds(10), 0);
	}

	private static long seconds(int seconds) {
		return Duration.ofSeconds(seconds).toNanos();
	}

}
