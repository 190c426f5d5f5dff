package io.queuestarter.retry;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What happens to a record at the very moment it begins to wait.
 */
class RetriesTests {

	private final List<Runnable> tasks = new ArrayList<>();

	private final List<ScheduledFuture<?>> scheduled = new ArrayList<>();

	private final Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
	});

	private final Delivery delivery = Records.assignment(this.dispatcher)
		.admit(Records.record(Records.partition(0), 0, 10), RecordContext.DEFAULT, 0);

	/** Done when the timer has taken a task, before anybody knows of it. */
	private Runnable meanwhile = () -> {
	};

	private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1) {

		@Override
		public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
			ScheduledFuture<?> future = super.schedule(task, delay, unit);
			RetriesTests.this.tasks.add(task);
			RetriesTests.this.scheduled.add(future);
			RetriesTests.this.meanwhile.run();
			return future;
		}

	};

	private final Retries retries = new Retries(this.timer, this.dispatcher, 1);

	@AfterEach
	void endTimer() {
		this.timer.shutdownNow();
	}

	@Test
	void recordLetGoWhileItIsScheduledDoesNotWait() {
		this.delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF);
		this.meanwhile = this.delivery::letGo;

		this.retries.schedule(this.delivery, Duration.ofDays(1));

		assertNothingWaits();
	}

	@Test
	void recordMovedAsideWhileItIsScheduledDoesNotWait() {
		this.delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF);
		this.meanwhile = () -> {
			this.delivery.move(DeliveryState.BACKOFF, DeliveryState.DEAD_LETTERING);
			this.delivery.cancelBackoff();
		};

		this.retries.schedule(this.delivery, Duration.ofDays(1));

		assertNothingWaits();
	}

	@Test
	void recordMovedAsideBeforeItIsScheduledDoesNotWait() {
		this.delivery.move(DeliveryState.QUEUED, DeliveryState.DEAD_LETTERING);
		this.delivery.cancelBackoff();

		this.retries.schedule(this.delivery, Duration.ofDays(1));

		assertNothingWaits();
	}

	/*
	 * The timer is so quick that the next attempt has failed, and its back-off begun,
	 * before the first call has returned.
	 */
	@Test
	void recordLetGoInItsSecondBackOffDoesNotWait() {
		this.delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF);
		this.meanwhile = () -> {
			this.meanwhile = () -> {
			};
			this.tasks.get(0).run();
			this.delivery.move(DeliveryState.QUEUED, DeliveryState.BACKOFF);
			this.retries.schedule(this.delivery, Duration.ofDays(1));
		};
		this.retries.schedule(this.delivery, Duration.ofDays(1));

		this.delivery.letGo();

		assertThat(this.scheduled).hasSize(2);
		assertThat(this.scheduled.get(1).isCancelled()).isTrue();
		assertThat(this.retries.waiting()).isZero();
	}

	private void assertNothingWaits() {
		assertThat(this.scheduled).hasSize(1).allMatch(ScheduledFuture::isCancelled);
		assertThat(this.retries.waiting()).isZero();
	}

}
