package io.queuestarter.benchmarks.compare;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.adapter.HandlerAdapter;
import org.springframework.kafka.listener.adapter.RecordMessagingMessageListenerAdapter;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskQueue;
import io.queuestarter.handler.AnsweringHandlerMethodFactory;
import io.queuestarter.handler.AttemptOpener;
import io.queuestarter.handler.HandlerRunner;
import io.queuestarter.handler.OnDemandMessageConverter;
import io.queuestarter.handler.PartDecoder;
import io.queuestarter.handler.RecordDecoder;
import io.queuestarter.handler.Surroundings;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;

/**
 * What a record costs on a worker, without Spring Kafka's way to the user's method and
 * with it; and what it costs to hand a task over to a worker and to take the next. One
 * thread, so nothing waits for a lock. Good is less than a microsecond, and less than 100
 * ns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class HandlerBenchmark {

	private static final int BATCH = 500;

	private static final byte[] KEY = new byte[4];

	private static final byte[] VALUE = new byte[100];

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	private final Stages stages = new Stages(1, BATCH, Runnable::run, this.timer, (delivery, slot) -> true, () -> {
	});

	private final Dispatcher<Object> dispatcher = new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
	});

	private final TaskQueue<Object> queue = this.dispatcher.open(0);

	private final List<Object> tasks = new ArrayList<>(Collections.nCopies(BATCH, "task"));

	private final Assignment assignment = new Assignment(new TopicPartition("orders", 0), Stage.source("orders"),
			new PartitionLedger<>(10_000, 0, OffsetRanges.EMPTY), 0, -1,
			LaneQueues.of(this.stages.dispatcher().open(0)), budget(), budget(), () -> {
			});

	/** Whether the MDC tells which record is handled. */
	@Param({ "false", "true" })
	public boolean mdc;

	private @Nullable AcknowledgingConsumerAwareMessageListener<Object, Object> method;

	private long offset;

	private static ByteBudget budget() {
		return new ByteBudget(Long.MAX_VALUE, () -> {
		});
	}

	private HandlerRunner runner(AcknowledgingConsumerAwareMessageListener<Object, Object> listener) {
		RecordDecoder decoder = new RecordDecoder(PartDecoder.pooled("key", ByteArrayDeserializer::new),
				PartDecoder.pooled("value", ByteArrayDeserializer::new));
		AttemptOpener opener = new AttemptOpener(this.stages.settler(), TimeSource.SYSTEM, Stages.TIMEOUT,
				this.stages.circuits());
		return new HandlerRunner(decoder, listener, new MockConsumer<>("earliest"), opener,
				new Surroundings("orders", "group", this.mdc, null));
	}

	/**
	 * Ends the timer.
	 */
	@TearDown
	public void close() {
		this.timer.shutdownNow();
	}

	/**
	 * Into the ledger, an attempt, the handler's call, settled, out of the ledger.
	 * @param hole what handlers do
	 * @return the watermark
	 */
	@Benchmark
	@OperationsPerInvocation(BATCH)
	public long admitHandleSettle(Blackhole hole) {
		return handle(runner((record, acknowledgment, consumer) -> hole.consume(record)));
	}

	/**
	 * The same, by way of Spring Kafka to a method that takes the value.
	 * @param hole what handlers do
	 * @return the watermark
	 * @throws NoSuchMethodException never
	 */
	@Benchmark
	@OperationsPerInvocation(BATCH)
	public long admitCallMethodSettle(Blackhole hole) throws NoSuchMethodException {
		if (this.method == null) {
			this.method = method(new Consumed(hole));
		}
		return handle(runner(this.method));
	}

	private static AcknowledgingConsumerAwareMessageListener<Object, Object> method(Consumed bean)
			throws NoSuchMethodException {
		Method method = Consumed.class.getDeclaredMethod("handle", byte[].class);
		DefaultMessageHandlerMethodFactory methods = new DefaultMessageHandlerMethodFactory();
		methods.afterPropertiesSet();
		RecordMessagingMessageListenerAdapter<Object, Object> adapter = new RecordMessagingMessageListenerAdapter<>(
				bean, method);
		adapter.setMessageConverter(new OnDemandMessageConverter());
		adapter.setHandlerMethod(new HandlerAdapter(
				new AnsweringHandlerMethodFactory(methods).createInvocableHandlerMethod(bean, method)));
		return adapter;
	}

	private long handle(HandlerRunner runner) {
		for (int i = 0; i < BATCH; i++) {
			ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("orders", 0, this.offset++, 0,
					TimestampType.CREATE_TIME, 4, 100, KEY, VALUE, new RecordHeaders(), Optional.empty());
			runner.run(this.assignment.admit(record, RecordContext.DEFAULT, 0), 0);
		}
		return this.assignment.ledger().advance();
	}

	/**
	 * From the submission of a poll's tasks to the end of the last one.
	 * @return number of tasks that wait
	 */
	@Benchmark
	@OperationsPerInvocation(BATCH)
	public int handOver() {
		this.dispatcher.submit(this.queue, this.tasks);
		return this.dispatcher.waiting();
	}

	/**
	 * A bean.
	 *
	 * @param hole what its handler does
	 */
	record Consumed(Blackhole hole) {

		void handle(byte[] value) {
			this.hole.consume(value);
		}

	}

}
