package io.queuestarter.container;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.delivery.TimeSource;

/**
 * Makes the commit of partitions that are given up, within a limit. <em>Consumer thread
 * only.</em>
 */
/*
 * A wake-up is meant for a poll, so one that hits the commit is put off: raised again if
 * the commit happens within a poll, dropped if the consumer is leaving. The consumer
 * protocol's client may throw twice for one wake-up.
 *
 * While the group rebalances, the classic client refuses to commit, although with a
 * cooperative assignor the member still owns its partitions. Only polls lead out of that
 * state, so a leaving consumer polls until the commit is accepted. In such a poll
 * partitions may be revoked, which is the last moment to commit them, or lost.
 */
final class LastCommit {

	private static final Logger LOGGER = LoggerFactory.getLogger(LastCommit.class);

	private static final Duration LIMIT = Duration.ofSeconds(5);

	private static final Duration POLL = Duration.ofMillis(50);

	private static final int ATTEMPTS_WITHIN_POLL = 3;

	private final String queue;

	private final Consumer<?, ?> consumer;

	private final TimeSource time;

	private final Map<TopicPartition, OffsetAndMetadata> open = new HashMap<>();

	LastCommit(String queue, Consumer<?, ?> consumer, TimeSource time) {
		this.queue = queue;
		this.consumer = consumer;
		this.time = time;
	}

	/** Commits outside of a poll, before the consumer leaves its group. */
	void beforeLeaving(Map<TopicPartition, OffsetAndMetadata> offsets) {
		this.open.putAll(offsets);
		commit(this.open, true);
		this.open.clear();
	}

	/** Commits within a poll, before the partitions go to another member. */
	void beforeRevocation(Map<TopicPartition, OffsetAndMetadata> offsets) {
		if (commit(offsets, false)) {
			this.consumer.wakeup();
		}
	}

	/** Partitions are revoked while the commit before leaving is not made yet. */
	void revoked(Collection<TopicPartition> partitions) {
		Map<TopicPartition, OffsetAndMetadata> revoked = new HashMap<>(this.open);
		revoked.keySet().retainAll(partitions);
		commit(revoked, false);
		lost(partitions);
	}

	/** Another member may own the partitions already. */
	void lost(Collection<TopicPartition> partitions) {
		this.open.keySet().removeAll(partitions);
	}

	/** Answers whether a wake-up was put off. */
	private boolean commit(Map<TopicPartition, OffsetAndMetadata> offsets, boolean leaving) {
		long start = this.time.nanoTime();
		boolean woken = false;
		int attempts = 0;
		while (!offsets.isEmpty()) {
			try {
				this.consumer.commitSync(offsets, LIMIT);
				return woken;
			}
			catch (WakeupException ex) {
				woken = true;
			}
			catch (RetriableException | RebalanceInProgressException ex) {
				attempts++;
				if (this.time.nanoTime() - start > LIMIT.toNanos() || (!leaving && attempts == ATTEMPTS_WITHIN_POLL)) {
					failed(offsets, ex);
					return woken;
				}
				if (leaving && ex instanceof RebalanceInProgressException) {
					poll();
				}
			}
			catch (KafkaException ex) {
				failed(offsets, ex);
				return woken;
			}
		}
		return woken;
	}

	private void failed(Map<TopicPartition, OffsetAndMetadata> offsets, KafkaException error) {
		LOGGER.warn("Last commit of queue '{}' failed; records settled since the one before run again: {}", this.queue,
				offsets.keySet(), error);
	}

	/** Goes on with the rebalance. Records of new partitions go to their next owner. */
	private void poll() {
		try {
			this.consumer.pause(this.consumer.assignment());
			this.consumer.poll(POLL);
		}
		catch (KafkaException ex) {
			LOGGER.debug("Queue '{}' is leaving all the same", this.queue, ex);
		}
	}

}
