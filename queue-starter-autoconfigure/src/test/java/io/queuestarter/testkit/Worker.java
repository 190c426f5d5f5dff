package io.queuestarter.testkit;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaConsumerFactoryCustomizer;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

import io.queuestarter.QueueListener;
import io.queuestarter.autoconfigure.KafkaQueueAutoConfiguration;
import io.queuestarter.container.Queues;

/**
 * An application of one queue that keeps a {@link DiskJournal}, to be run in a JVM of its
 * own or within that of the test.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ KafkaAutoConfiguration.class, KafkaQueueAutoConfiguration.class })
public class Worker {

	public static void main(String[] args) {
		ChildJvm.endWithParent();
		SpringApplication.run(Worker.class, args);
	}

	@Bean
	static DiskJournal journal(@Value("${journal}") Path path) throws IOException {
		return new DiskJournal(path);
	}

	@Bean
	static Handler handler(DiskJournal journal) {
		return new Handler(journal);
	}

	@Bean
	@SuppressWarnings("unchecked")
	static DefaultKafkaConsumerFactoryCustomizer tap(DiskJournal journal, @Value("${topic}") String topic,
			ObjectProvider<Queues> queues) {
		return (factory) -> ((DefaultKafkaConsumerFactory<Object, Object>) factory)
			.addPostProcessor((consumer) -> ConsumerTap.tap(consumer, new JournalTap(journal, topic, queues)));
	}

	/**
	 * Takes a millisecond or two, 0.2 s with each 50th record and 1 s with each 500th.
	 */
	private static void work(long number) {
		long millis = (number % 500 == 250) ? 1000 : (number % 50 == 25) ? 200 : 1 + number % 2;
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
		while (System.nanoTime() < end && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(end - System.nanoTime());
		}
	}

	static final class Handler {

		private final DiskJournal journal;

		Handler(DiskJournal journal) {
			this.journal = journal;
		}

		@QueueListener(id = "worker", topics = "${topic}", groupId = "${topic}")
		void handle(ConsumerRecord<String, String> record) {
			this.journal.note(DiskJournal.Event.STARTED, record.partition(), record.offset(), record.value());
			work(Long.parseLong(record.value()));
			if (!Thread.currentThread().isInterrupted()) {
				this.journal.note(DiskJournal.Event.ENDED, record.partition(), record.offset(), record.value());
			}
		}

	}

	/** Notes assignments, and commits when the broker has acknowledged them. */
	private static final class JournalTap implements ConsumerTap {

		private final DiskJournal journal;

		private final String topic;

		private final ObjectProvider<Queues> queues;

		private long redelivered;

		JournalTap(DiskJournal journal, String topic, ObjectProvider<Queues> queues) {
			this.journal = journal;
			this.topic = topic;
			this.queues = queues;
		}

		@Override
		public @Nullable Object on(Call call) throws Throwable {
			switch (call.name()) {
				case "subscribe" -> {
					ConsumerRebalanceListener listener = call.argument(ConsumerRebalanceListener.class);
					if (listener != null) {
						call.replace(ConsumerRebalanceListener.class, new JournalListener(this, listener));
					}
				}
				case "poll" -> count();
				case "commitAsync" -> {
					OffsetCommitCallback callback = call.argument(OffsetCommitCallback.class);
					Map<TopicPartition, OffsetAndMetadata> offsets = committing(call);
					call.replace(OffsetCommitCallback.class, (ignored, error) -> {
						if (error == null) {
							acknowledged(offsets);
						}
						if (callback != null) {
							callback.onComplete(offsets, error);
						}
					});
				}
				case "commitSync" -> {
					Map<TopicPartition, OffsetAndMetadata> offsets = committing(call);
					Object result = call.proceed();
					acknowledged(offsets);
					return result;
				}
				default -> {
				}
			}
			return call.proceed();
		}

		private void count() {
			this.queues.getObject().find("worker").ifPresent((queue) -> {
				long current = queue.intakeCounts().redelivered();
				if (current != this.redelivered) {
					this.redelivered = current;
					this.journal.note(DiskJournal.Event.COUNTED, -1, current, "");
				}
			});
		}

		@SuppressWarnings("unchecked")
		private Map<TopicPartition, OffsetAndMetadata> committing(Call call) {
			Map<TopicPartition, OffsetAndMetadata> offsets = Objects.requireNonNull(call.argument(Map.class));
			offsets.forEach((partition, commit) -> note(DiskJournal.Event.COMMITTING, partition, commit.offset(), ""));
			return offsets;
		}

		private void acknowledged(Map<TopicPartition, OffsetAndMetadata> offsets) {
			offsets.forEach((partition, commit) -> note(DiskJournal.Event.COMMITTED, partition, commit.offset(),
					commit.metadata()));
		}

		/** Other queues of the application are not the journal's business. */
		void note(DiskJournal.Event event, TopicPartition partition, long offset, String text) {
			if (partition.topic().equals(this.topic)) {
				this.journal.note(event, partition.partition(), offset, text);
			}
		}

	}

	private record JournalListener(JournalTap tap,
			ConsumerRebalanceListener delegate) implements ConsumerRebalanceListener {

		@Override
		public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
			note(DiskJournal.Event.ASSIGNED, partitions, "");
			this.delegate.onPartitionsAssigned(partitions);
		}

		@Override
		public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
			this.delegate.onPartitionsRevoked(partitions);
			note(DiskJournal.Event.REVOKED, partitions, "");
		}

		@Override
		public void onPartitionsLost(Collection<TopicPartition> partitions) {
			this.delegate.onPartitionsLost(partitions);
			note(DiskJournal.Event.REVOKED, partitions, "lost");
		}

		private void note(DiskJournal.Event event, Collection<TopicPartition> partitions, String text) {
			partitions.forEach((partition) -> this.tap.note(event, partition, -1, text));
		}

	}

}
