package io.queuestarter.handler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.mockito.MockedStatic;
import org.mockito.Mockito;
import org.slf4j.MDC;

import io.queuestarter.context.ContextInterceptor;
import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptOutcome;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.Taken;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.NoAnswers;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An MDC is foreign code. Whatever it throws, the record is handled, the answer passed on
 * and nothing left on the thread.
 */
class SurroundingsTests {

	private static final AttemptTimeout TIMEOUT = new AttemptTimeout(Duration.ofSeconds(30), 1, Duration.ofSeconds(30));

	/** Told by a header, so that what is sent would carry it. */
	private static final RecordContext LANE = new RecordContext("test", 0, null, false, List.of("tenancy"));

	private final NoAnswers answers = new NoAnswers();

	private final Assignment assignment = Records
		.assignment(new Dispatcher<>(8, 0, Runnable::run, (task, slot) -> true, () -> {
		}));

	private final RecordDecoder decoder = new RecordDecoder(PartDecoder.single("key", new ByteArrayDeserializer()),
			PartDecoder.single("value", new ByteArrayDeserializer()));

	private final Surroundings surroundings = new Surroundings("orders", "group", true, null);

	private final List<String> calls = new ArrayList<>();

	@AfterEach
	void clear() {
		MDC.clear();
	}

	@Test
	void taskAboutAnAttemptRunsAlthoughTheMdcCannotBeChanged() {
		Attempt attempt = attempt();
		HandlerScope scope = this.surroundings.begin(attempt);
		try (MockedStatic<MDC> mdc = Mockito.mockStatic(MDC.class)) {
			mdc.when(() -> MDC.put(Mockito.any(), Mockito.any())).thenThrow(new LinkageError("put"));
			mdc.when(() -> MDC.clear()).thenThrow(new IllegalStateException("clear"));
			mdc.when(() -> MDC.setContextMap(Mockito.any())).thenThrow(new StackOverflowError("set"));

			attempt.run(() -> this.calls.add("task"));
		}
		scope.close();

		assertThat(this.calls).containsExactly("task");
	}

	@Test
	void recordIsHandledAlthoughTheMdcThrows() {
		try (MockedStatic<MDC> mdc = throwingAt("offset", new IllegalStateException("Broken"))) {
			assertThat(runner().run(delivery(), 0)).isTrue();
		}

		assertThat(this.calls).containsExactly("handler");
		assertThat(this.answers.received()).containsExactly("handled");
		assertNothingIsLeft();
	}

	@Test
	void memoryThatEndsInTheMdcIsToldAndNothingIsLeftOnTheThread() {
		try (MockedStatic<MDC> mdc = throwingAt("offset", new OutOfMemoryError("put"))) {
			runner().run(delivery(), 0);
		}

		assertThat(this.calls).isEmpty();
		assertThat(this.answers.received()).containsExactly("failed");
		assertNothingIsLeft();
	}

	@Test
	void batchIsHandledAlthoughTheMdcThrowsAtItsBeginningAndItsEnd() {
		Delivery delivery = delivery();
		try (MockedStatic<MDC> mdc = throwingAt("lane", new IllegalStateException("Broken"))) {
			mdc.when(() -> MDC.clear()).thenThrow(new StackOverflowError("clear"));
			assertThat(batchRunner().run(List.of(new Taken<>(delivery, 0)))).hasSize(1);
		}

		assertThat(this.calls).containsExactly("batch");
		assertThat(this.answers.received()).containsExactly("handled");
		assertThat(Objects.requireNonNull(delivery.attempt()).hasLeft()).isTrue();
	}

	@Test
	void memoryThatEndsInTheMdcOfABatchIsToldAndNothingIsLeftOnTheThread() {
		try (MockedStatic<MDC> mdc = throwingAt("lane", new OutOfMemoryError("put"))) {
			batchRunner().run(List.of(new Taken<>(delivery(), 0), new Taken<>(delivery(), 1)));
		}

		assertThat(this.calls).isEmpty();
		assertThat(this.answers.received()).containsExactly("failed", "failed");
		assertNothingIsLeft();
	}

	@Test
	void memoryThatEndsAsAnObserverBeginsIsToldAndTheHandlerNotCalled() {
		Surroundings observed = new Surroundings("orders", "group", true,
				(queue, group, attempt) -> new AttemptObserver.Observed() {

					@Override
					public void enter() {
						throw new OutOfMemoryError("enter");
					}

					@Override
					public void leave() {
						SurroundingsTests.this.calls.add("leave");
					}

					@Override
					public void end(AttemptOutcome outcome, @Nullable Throwable error) {
					}

				});

		runner(observed).run(delivery(), 0);

		assertThat(this.calls).containsExactly("leave");
		assertThat(this.answers.received()).containsExactly("failed");
		assertNothingIsLeft();
	}

	private static MockedStatic<MDC> throwingAt(String key, Throwable error) {
		MockedStatic<MDC> mdc = Mockito.mockStatic(MDC.class, Mockito.CALLS_REAL_METHODS);
		mdc.when(() -> MDC.put(Mockito.eq(key), Mockito.any())).thenThrow(error);
		return mdc;
	}

	private void assertNothingIsLeft() {
		assertThat(MDC.getCopyOfContextMap()).isNullOrEmpty();
		ProducerRecord<Object, Object> sent = new ContextInterceptor().onSend(new ProducerRecord<>("down", "value"));
		assertThat(sent.headers()).isEmpty();
	}

	private HandlerRunner runner() {
		return runner(this.surroundings);
	}

	private HandlerRunner runner(Surroundings around) {
		return new HandlerRunner(this.decoder, (record, acknowledgment, consumer) -> this.calls.add("handler"),
				new MockConsumer<>("earliest"), opener(), around);
	}

	private AttemptOpener opener() {
		return new AttemptOpener(this.answers, new ManualClock(), TIMEOUT, Trust.circuits());
	}

	private BatchHandlerRunner batchRunner() {
		return new BatchHandlerRunner(this.decoder, (records, acknowledgment, consumer) -> this.calls.add("batch"),
				new MockConsumer<>("earliest"), opener(), this.surroundings);
	}

	private Delivery delivery() {
		long offset = this.assignment.ledger().next();
		return this.assignment.admit(record(offset), LANE, 0);
	}

	private static ConsumerRecord<byte[], byte[]> record(long offset) {
		ConsumerRecord<byte[], byte[]> record = Records.record(Records.partition(0), offset, 10);
		record.headers().add("tenancy", new byte[] { 't' });
		return record;
	}

	private Attempt attempt() {
		return Objects.requireNonNull(delivery().start(this.answers, 0, new ManualClock(), TIMEOUT, Trust.circuit()));
	}

}
