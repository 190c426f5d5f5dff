package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.delivery.TimeSource;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;

/**
 * Asks the broker what the group has committed for newly assigned partitions.
 * <em>Consumer thread only.</em>
 * <p>
 * Partitions for which there is no answer wait, paused, until there is one: to begin
 * anyway would be to forget, and with the next commit to overwrite, what is settled above
 * the watermark.
 */
final class CommittedOffsets {

	private static final Logger LOGGER = LoggerFactory.getLogger(CommittedOffsets.class);

	/** Longest wait for an answer, in one poll. */
	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/** Time between two questions. */
	static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final String queue;

	private final Consumer<?, ?> consumer;

	private final TimeSource time;

	private final Set<TopicPartition> waiting = new HashSet<>();

	private long askedNanos;

	CommittedOffsets(String queue, Consumer<?, ?> consumer, TimeSource time) {
		this.queue = queue;
		this.consumer = consumer;
		this.time = time;
	}

	/** Partitions that wait for an answer. */
	Set<TopicPartition> waiting() {
		return this.waiting;
	}

	/** Partitions for which it is time to ask again. */
	List<TopicPartition> due() {
		boolean due = !this.waiting.isEmpty() && this.time.nanoTime() - this.askedNanos >= ASK_AGAIN_NANOS;
		return due ? List.copyOf(this.waiting) : List.of();
	}

	/**
	 * Asks for assigned partitions. Without an answer they are paused and wait.
	 */
	@Nullable Map<TopicPartition, OffsetAndMetadata> ask(Collection<TopicPartition> partitions) {
		Map<TopicPartition, OffsetAndMetadata> answer = answer(new HashSet<>(partitions));
		this.askedNanos = this.time.nanoTime();
		if (answer == null) {
			this.waiting.addAll(partitions);
			this.consumer.pause(partitions);
		}
		else {
			forget(partitions);
		}
		return answer;
	}

	/** Partitions wait no more: they are given up. */
	void forget(Collection<TopicPartition> partitions) {
		partitions.forEach(this.waiting::remove);
	}

	/** A wake-up is meant for the poll around: put off until the answer is there. */
	private @Nullable Map<TopicPartition, OffsetAndMetadata> answer(Set<TopicPartition> partitions) {
		boolean woken = false;
		try {
			while (true) {
				try {
					return this.consumer.committed(partitions, TIMEOUT);
				}
				catch (WakeupException ex) {
					woken = true;
				}
			}
		}
		catch (KafkaException ex) {
			LOGGER.warn("Committed offsets of {} could not be read; queue '{}' holds the partitions and asks again: {}",
					partitions, this.queue, ex.toString());
			return null;
		}
		finally {
			if (woken) {
				this.consumer.wakeup();
			}
		}
	}

	/** What the metadata of a commit says. */
	static AckedSet read(TopicPartition partition, OffsetAndMetadata committed) {
		Optional<AckedSet> set = AckedSetCodec.decode(committed.offset(), committed.metadata());
		if (set.isEmpty()) {
			LOGGER.warn("Commit metadata of '{}' at {} ({} characters) was not written by a queue of this version and "
					+ "is ignored", partition, committed.offset(), committed.metadata().length());
		}
		return set.orElse(AckedSet.EMPTY);
	}

}
