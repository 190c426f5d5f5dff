package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.List;

import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ParallelConsumerOptionsBuilder;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import io.confluent.parallelconsumer.PollContext;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

import io.queuestarter.benchmarks.compare.Probe.HandlerFailure;

/**
 * Confluent's Parallel Consumer. To go by keys they are strings, since it compares byte
 * arrays by identity. If it is tuned it commits as often as the queue, instead of every 5
 * seconds; and its buffer is what the queue's is, since it would grow from twice the
 * number in flight for minutes otherwise.
 */
final class ParallelArm implements Arm {

	private final ProcessingOrder order;

	private final boolean tuned;

	ParallelArm(ProcessingOrder order, boolean tuned) {
		this.order = order;
		this.tuned = tuned;
	}

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		return (this.order == ProcessingOrder.KEY) ? start(scenario, records, probe, new StringDeserializer())
				: start(scenario, records, probe, new ByteArrayDeserializer());
	}

	private <K> Running start(Scenario scenario, Records records, Probe probe, Deserializer<K> keys) {
		ParallelConsumerOptionsBuilder<K, byte[]> options = ParallelConsumerOptions.<K, byte[]>builder()
			.consumer(records.consumer(records.configuration(), keys))
			.ordering(this.order)
			.maxConcurrency(scenario.inFlight())
			.commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
			.defaultMessageRetryDelay(Duration.ofMillis(100))
			.ignoreReflectiveAccessExceptionsForAutoCommitDisabledCheck(true);
		if (this.tuned) {
			options.commitInterval(Duration.ofMillis(500)).messageBufferSize(QueueArm.buffer(scenario));
		}
		ParallelStreamProcessor<K, byte[]> processor = ParallelStreamProcessor
			.createEosStreamProcessor(options.build());
		processor.subscribe(List.of(records.topic()));
		processor.poll((context) -> handle(probe, context));
		return new Running() {

			@Override
			public boolean isCommitted() {
				return records.isCommitted();
			}

			@Override
			public void close() {
				processor.closeDontDrainFirst();
			}

		};
	}

	private static void handle(Probe probe, PollContext<?, byte[]> context) {
		try {
			probe.handle(context.value());
		}
		catch (HandlerFailure ex) {
			if (!ex.isLast()) {
				throw ex;
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
