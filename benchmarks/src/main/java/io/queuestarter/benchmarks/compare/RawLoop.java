package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/**
 * Polls, handles, and commits every half second: the limit for one thread.
 */
final class RawLoop implements Arm {

	private static final Duration POLL = Duration.ofMillis(100);

	private static final long COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		Consumer<byte[], byte[]> consumer = records.consumer();
		consumer.subscribe(List.of(records.topic()));
		PollLoop loop = PollLoop.start("raw-loop", new Turns(consumer, probe), consumer::close);
		return new Running() {

			@Override
			public boolean isCommitted() {
				return records.isCommitted();
			}

			@Override
			public void close() {
				loop.stop();
			}

		};
	}

	private static final class Turns implements PollLoop.Turn {

		private final Consumer<byte[], byte[]> consumer;

		private final Probe probe;

		private long committedNanos = System.nanoTime();

		private boolean uncommitted;

		Turns(Consumer<byte[], byte[]> consumer, Probe probe) {
			this.consumer = consumer;
			this.probe = probe;
		}

		@Override
		public void run() throws InterruptedException {
			ConsumerRecords<byte[], byte[]> polled = this.consumer.poll(POLL);
			for (ConsumerRecord<byte[], byte[]> record : polled) {
				this.probe.handle(record.value());
			}
			this.uncommitted |= !polled.isEmpty();
			if (this.uncommitted && System.nanoTime() - this.committedNanos >= COMMIT_NANOS) {
				this.consumer.commitAsync(null);
				this.committedNanos = System.nanoTime();
				this.uncommitted = false;
			}
		}

	}

}
