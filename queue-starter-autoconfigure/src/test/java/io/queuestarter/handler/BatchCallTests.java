package io.queuestarter.handler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.listener.ListenerExecutionFailedException;

import io.queuestarter.QueueBatchException;
import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.NoAnswers;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What one call says of the records of its batch, and when its thread is interrupted.
 */
class BatchCallTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	private final NoAnswers answers = new NoAnswers();

	private final Assignment assignment = Records
		.assignment(new Dispatcher<>(8, 0, Runnable::run, (task, slot) -> true, () -> {
		}));

	private final RecordDecoder decoder = new RecordDecoder(PartDecoder.single("key", new ByteArrayDeserializer()),
			PartDecoder.single("value", new ByteArrayDeserializer()));

	private final List<Attempt> attempts = new ArrayList<>();

	@Test
	void cancelledRecordDoesNotDisturbTheOthers() {
		BatchCall call = enter(3);

		this.attempts.get(1).cancel();

		assertThat(Thread.interrupted()).isFalse();
		call.leave();
	}

	@Test
	void threadIsInterruptedWhenNobodyWaitsForAnyRecord() {
		BatchCall call = enter(3);
		this.attempts.get(0).claim();

		this.attempts.get(1).cancel();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		this.attempts.get(2).cancel();

		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		call.leave();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void handlerThatHasAnsweredAndOutstaysItsTimeIsInterrupted() {
		BatchCall call = enter(2);
		this.attempts.forEach(Attempt::claim);

		this.attempts.get(0).cancel();

		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		call.leave();
	}

	@Test
	void threadThatHasLeftIsNotInterrupted() {
		BatchCall call = enter(2);

		call.leave();
		this.attempts.forEach(Attempt::cancel);

		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.attempts).allMatch(Attempt::hasLeft);
	}

	@Test
	void resultIsCancelledOnceWhenNobodyWaitsForAnyRecord() {
		List<String> cancelled = new ArrayList<>();
		BatchCall call = enter(2);
		call.onCancel(() -> cancelled.add("result"));
		call.leave();

		this.attempts.get(0).cancel();
		assertThat(cancelled).isEmpty();
		this.attempts.get(1).cancel();
		this.attempts.get(1).cancel();

		assertThat(cancelled).containsExactly("result");
	}

	@Test
	void resultOfACancelledCallIsCancelledAtOnce() {
		List<String> cancelled = new ArrayList<>();
		BatchCall call = enter(1);
		this.attempts.get(0).cancel();

		call.onCancel(() -> cancelled.add("result"));

		assertThat(cancelled).containsExactly("result");
		call.leave();
	}

	@Test
	void recordOfABatchOfOneIsNotShared() {
		BatchCall one = enter(1);
		assertThat(this.attempts.get(0).isShared()).isFalse();
		one.leave();
		this.attempts.clear();

		BatchCall two = enter(2);
		assertThat(this.attempts).allMatch(Attempt::isShared);
		two.leave();
	}

	@Test
	void springsExceptionIsFoundInsideOfOthersAndNamesByIndexOrByRecord() {
		BatchCall call = enter(3);
		ConsumerRecord<?, ?> second = call.decode(this.decoder).get(1);
		call.leave();

		call.failed(new ListenerExecutionFailedException("wrapped", new BatchListenerFailedException("bad", 1)));
		call.failed(new BatchListenerFailedException("bad", second));

		assertThat(this.answers.received()).containsExactly("handled", "failed", "notReached", "handled", "failed",
				"notReached");
	}

	@Test
	void namedRecordsFailAndAllOthersAreHandled() {
		BatchCall call = enter(4);
		call.leave();

		call.failed(new QueueBatchException(
				Map.of(1, new IllegalStateException("one"), 3, new IllegalStateException("three"))));

		assertThat(this.answers.received()).containsExactly("handled", "failed", "handled", "failed");
	}

	@Test
	void namesThatAreNotOfTheBatchNameNothing() {
		BatchCall call = enter(2);
		call.leave();

		call.failed(new BatchListenerFailedException("bad", 2));
		call.failed(new BatchListenerFailedException("bad", new ConsumerRecord<>("others", 0, 0, "k", "v")));
		call.failed(new QueueBatchException(Map.of(0, new IllegalStateException(), -1, new IllegalStateException())));

		assertThat(this.answers.received()).hasSize(6).containsOnly("failedTogether");
	}

	@Test
	void exceptionOfABatchOfOneIsThatOfItsRecord() {
		BatchCall call = enter(1);
		call.leave();

		call.failed(new IllegalStateException("bad"));

		assertThat(this.answers.received()).containsExactly("failed");
	}

	@Test
	void outOfMemoryIsPassedOnForEachRecord() {
		BatchCall call = enter(2);
		call.leave();

		call.failed(new ListenerExecutionFailedException("wrapped", new RuntimeException(new OutOfMemoryError())));

		assertThat(this.answers.received()).containsExactly("failed", "failed");
	}

	@Test
	void exceptionThatCannotBeAskedNamesNothing() {
		BatchCall call = enter(2);
		call.leave();

		call.failed(new BatchListenerFailedException("bad", 1) {

			@Override
			public @Nullable ConsumerRecord<?, ?> getRecord() {
				throw new AssertionError("Broken");
			}

		});

		assertThat(this.answers.received()).containsExactly("failedTogether", "failedTogether");
	}

	@Test
	void acknowledgmentsSettleUpToAnIndex() {
		BatchCall call = enter(3);
		call.leave();

		call.acknowledge(1);
		assertThat(this.answers.received()).containsExactly("handled", "handled");
		call.nack(1, Duration.ofSeconds(2));

		assertThat(this.answers.received()).endsWith("retryAfter PT2S", "handled", "notReached");
	}

	@Test
	void failuresMustBeNamed() {
		assertThatIllegalArgumentException().isThrownBy(() -> new QueueBatchException(Map.of()))
			.withMessage("'failures' must not be empty, nor contain null");
		assertThat(new QueueBatchException(Map.of(7, new IllegalStateException("seven"))).getFailures())
			.containsOnlyKeys(7);
	}

	private BatchCall enter(int size) {
		for (int index = 0; index < size; index++) {
			long offset = this.assignment.ledger().next();
			this.attempts.add(Objects.requireNonNull(
					this.assignment.admit(Records.record(Records.partition(0), offset, 10), RecordContext.DEFAULT, 0)
						.start(this.answers, index, new ManualClock(), new AttemptTimeout(TIMEOUT, 1, TIMEOUT),
								Trust.circuit())));
		}
		BatchCall call = new BatchCall(List.copyOf(this.attempts), this.answers);
		call.enter();
		return call;
	}

}
