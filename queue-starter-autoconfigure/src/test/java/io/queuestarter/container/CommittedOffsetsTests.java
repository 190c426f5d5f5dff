package io.queuestarter.container;

import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.ConsumerTap;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The group coordinator does not answer when partitions are assigned.
 */
@Tag("threads")
class CommittedOffsetsTests {

	private static final String DRAIN_NOTHING = "kafka-queue.defaults.shutdown.drain-timeout=0";

	@Test
	void partitionIsHeldUntilItIsKnownWhatWasSettledBefore() {
		try (Trial trial = Trial.on("unknown", 1)) {
			Hold hold = new Hold();
			trial.work((record) -> {
				if (record.offset() == 0) {
					hold.await();
				}
				return true;
			});
			trial.send(1, 10);
			try (QueueApp first = trial.start(DRAIN_NOTHING)) {
				QueueApp.eventually().until(() -> Trial.queue(first).outcomes().acknowledgedCount() == 9);
			}
			AtomicInteger silent = new AtomicInteger(2);
			trial.tap(() -> (call) -> timeOut(call, silent));

			QueueApp second = trial.start();
			hold.release();

			trial.awaitAll(10);
			assertThat(silent).hasNegativeValue();
			assertThat(Journal.offsets(trial.journal().started().stream().filter((run) -> run.app() == 1).toList()))
				.containsExactly(0L);
			Trial.awaitQuiet(second);
		}
	}

	@Test
	void queueStopsWhileItIsNotKnown() {
		try (Trial trial = Trial.on("unknown", 1)) {
			trial.send(1, 10);
			AtomicInteger silent = new AtomicInteger(1_000);
			trial.tap(() -> (call) -> timeOut(call, silent));
			QueueApp app = trial.start();
			QueueApp.eventually().until(() -> silent.get() < 998);

			Trial.container(app).stop();
			silent.set(0);
			assertThat(trial.journal().started()).isEmpty();
			assertThat(trial.committed(0)).isEqualTo(-1);
			Trial.container(app).start();

			trial.awaitAll(10);
			assertThat(trial.journal().started()).hasSize(10);
		}
	}

	private static @Nullable Object timeOut(ConsumerTap.Call call, AtomicInteger times) throws Throwable {
		if (call.name().equals("committed") && times.getAndDecrement() > 0) {
			throw new TimeoutException("Injected");
		}
		return call.proceed();
	}

}
