package io.queuestarter.handler;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.delivery.AttemptOutcome;
import io.queuestarter.handler.AttemptObserver.Observed;

import static org.assertj.core.api.Assertions.assertThat;

class ObservedAttemptTests {

	private final List<Throwable> problems = new CopyOnWriteArrayList<>();

	@Test
	void endsWhenTheHandlerHasReturnedAfterItsAnswer() {
		Recorder recorder = new Recorder();
		ObservedAttempt attempt = new ObservedAttempt(recorder, this.problems::add);

		attempt.enter();
		attempt.concluded(AttemptOutcome.ACKED, null);
		assertThat(recorder.calls).containsExactly("enter");
		attempt.leave();

		assertThat(recorder.calls).containsExactly("enter", "leave", "acked");
	}

	@Test
	void endsWithTheAnswerThatComesAfterTheReturn() {
		Recorder recorder = new Recorder();
		ObservedAttempt attempt = new ObservedAttempt(recorder, this.problems::add);

		attempt.enter();
		attempt.leave();
		attempt.concluded(AttemptOutcome.NACKED, new IllegalStateException("No"));
		attempt.concluded(AttemptOutcome.ACKED, null);

		assertThat(recorder.calls).containsExactly("enter", "leave", "nacked");
	}

	@Test
	void endsOnAnotherThreadThanThatOfATimeout() throws Exception {
		Recorder recorder = new Recorder();
		ObservedAttempt attempt = new ObservedAttempt(recorder, this.problems::add);

		attempt.leave();
		attempt.concluded(AttemptOutcome.TIMED_OUT, null);

		assertThat(recorder.ended.get(30, TimeUnit.SECONDS)).isNotSameAs(Thread.currentThread());
		assertThat(recorder.calls).containsExactly("leave", "timed_out");
	}

	@Test
	void observerThatThrowsIsToldOf() {
		ObservedAttempt attempt = new ObservedAttempt(new Recorder() {

			@Override
			public void enter() {
				throw new AssertionError("Broken");
			}

		}, this.problems::add);

		attempt.enter();

		assertThat(this.problems).singleElement().isInstanceOf(AssertionError.class);
	}

	@Test
	@Tag("threads")
	void endsOnceIfReturnAndAnswerMeet() throws Exception {
		ExecutorService other = Executors.newSingleThreadExecutor();
		CyclicBarrier barrier = new CyclicBarrier(2);
		try {
			for (int round = 0; round < 10_000; round++) {
				Recorder recorder = new Recorder();
				ObservedAttempt attempt = new ObservedAttempt(recorder, this.problems::add);
				CompletableFuture<Void> answer = CompletableFuture.runAsync(() -> {
					meet(barrier);
					attempt.concluded(AttemptOutcome.ACKED, null);
				}, other);
				meet(barrier);
				attempt.leave();
				answer.get(30, TimeUnit.SECONDS);

				assertThat(recorder.calls).containsExactly("leave", "acked");
			}
		}
		finally {
			other.shutdownNow();
		}
	}

	private static void meet(CyclicBarrier barrier) {
		try {
			barrier.await(30, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static class Recorder implements Observed {

		final List<String> calls = new CopyOnWriteArrayList<>();

		final CompletableFuture<Thread> ended = new CompletableFuture<>();

		@Override
		public void enter() {
			this.calls.add("enter");
		}

		@Override
		public void leave() {
			this.calls.add("leave");
		}

		@Override
		public void end(AttemptOutcome outcome, @Nullable Throwable error) {
			this.calls.add(outcome.tag());
			this.ended.complete(Thread.currentThread());
		}

	}

}
