package io.queuestarter.benchmarks.compare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

import io.queuestarter.benchmarks.compare.Probe.HandlerFailure;

/**
 * A share group. Its consumers take a batch each, which they must acknowledge before the
 * next; its records run on threads of their own. Several consumers share what may be in
 * flight, so that one batch does not wait for another.
 */
final class ShareArm implements Arm {

	private static final int CONSUMERS = 4;

	private static final Duration POLL = Duration.ofMillis(100);

	private final Cluster cluster;

	ShareArm(Cluster cluster) {
		this.cluster = cluster;
	}

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		this.cluster.readFromBeginning(records.group());
		Workers workers = Workers.of(scenario.inFlight());
		Acknowledged acknowledged = new Acknowledged(scenario.load().records());
		List<PollLoop> loops = new ArrayList<>();
		for (int i = 0; i < CONSUMERS; i++) {
			ShareConsumer<byte[], byte[]> consumer = consumer(records, i, Math.max(1, scenario.inFlight() / CONSUMERS));
			consumer.setAcknowledgementCommitCallback(acknowledged::add);
			consumer.subscribe(List.of(records.topic()));
			loops.add(PollLoop.start("share-" + i, () -> handle(consumer, workers, probe, acknowledged),
					consumer::close));
		}
		return new Running() {

			@Override
			public boolean isCommitted() {
				return acknowledged.isAll();
			}

			@Override
			public void close() {
				loops.forEach(PollLoop::stop);
				workers.close();
			}

		};
	}

	private static ShareConsumer<byte[], byte[]> consumer(Records records, int number, int batch) {
		Map<String, Object> configuration = records.configuration();
		configuration.remove(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG);
		configuration.remove(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
		configuration.put(ConsumerConfig.CLIENT_ID_CONFIG, records.group() + "-" + number);
		configuration.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, batch);
		configuration.put(ConsumerConfig.SHARE_ACKNOWLEDGEMENT_MODE_CONFIG, "explicit");
		return new KafkaShareConsumer<>(configuration, new ByteArrayDeserializer(), new ByteArrayDeserializer());
	}

	private static void handle(ShareConsumer<byte[], byte[]> consumer, Workers workers, Probe probe,
			Acknowledged acknowledged) throws InterruptedException {
		ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
		CountDownLatch running = new CountDownLatch(polled.count());
		Map<ConsumerRecord<byte[], byte[]>, AcknowledgeType> others = new ConcurrentHashMap<>();
		for (ConsumerRecord<byte[], byte[]> record : polled) {
			workers.execute(() -> {
				try {
					probe.handle(record.value());
				}
				catch (HandlerFailure ex) {
					others.put(record, ex.isLast() ? AcknowledgeType.REJECT : AcknowledgeType.RELEASE);
				}
				catch (InterruptedException ex) {
					others.put(record, AcknowledgeType.RELEASE);
				}
				finally {
					running.countDown();
				}
			});
		}
		running.await();
		for (ConsumerRecord<byte[], byte[]> record : polled) {
			AcknowledgeType type = others.getOrDefault(record, AcknowledgeType.ACCEPT);
			if (type == AcknowledgeType.RELEASE) {
				acknowledged.released();
			}
			consumer.acknowledge(record, type);
		}
	}

	/**
	 * What the broker has taken note of.
	 */
	private static final class Acknowledged {

		private final int all;

		private final LongAdder taken = new LongAdder();

		private final LongAdder released = new LongAdder();

		Acknowledged(int all) {
			this.all = all;
		}

		void add(Map<TopicIdPartition, Set<Long>> offsets, @Nullable Exception error) {
			if (error == null) {
				offsets.values().forEach((some) -> this.taken.add(some.size()));
			}
		}

		void released() {
			this.released.increment();
		}

		boolean isAll() {
			return this.taken.sum() - this.released.sum() >= this.all;
		}

	}

}
