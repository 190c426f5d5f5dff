package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.List;

import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.CommitMode;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import io.confluent.parallelconsumer.PollContext;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.serialization.StringDeserializer;

import io.queuestarter.benchmarks.compare.Probe.HandlerFailure;

/**
 * Confluent's Parallel Consumer. Its keys are strings, since it compares byte arrays by
 * identity; it commits as often as the queue, instead of every 5 seconds; and its buffer
 * is what the queue's is, since it would grow from twice the number in flight for minutes
 * otherwise.
 */
final class ParallelArm implements Arm {

	private final ProcessingOrder order;

	ParallelArm(ProcessingOrder order) {
		this.order = order;
	}

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		Consumer<String, byte[]> consumer = records.consumer(records.configuration(), new StringDeserializer());
		ParallelStreamProcessor<String, byte[]> processor = ParallelStreamProcessor
			.createEosStreamProcessor(ParallelConsumerOptions.<String, byte[]>builder()
				.consumer(consumer)
				.ordering(this.order)
				.maxConcurrency(scenario.inFlight())
				.commitMode(CommitMode.PERIODIC_CONSUMER_ASYNCHRONOUS)
				.commitInterval(Duration.ofMillis(500))
				.messageBufferSize(QueueArm.buffer(scenario))
				.defaultMessageRetryDelay(Duration.ofMillis(100))
				.ignoreReflectiveAccessExceptionsForAutoCommitDisabledCheck(true)
				.build());
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

	private static void handle(Probe probe, PollContext<String, byte[]> context) {
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
