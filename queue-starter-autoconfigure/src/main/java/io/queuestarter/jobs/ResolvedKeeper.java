package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
import io.queuestarter.browse.Resolved;

/**
 * Keeps what is resolved from being forgotten. Kafka deletes the offsets of a group
 * without members after {@code offsets.retention.minutes}, a week by default; dead
 * letters may lie longer, and would all be unresolved again. So the same is committed
 * again twice a day, unless a job runs, which commits itself. <em>Thread-safe.</em>
 */
public final class ResolvedKeeper {

	private static final Logger LOGGER = LoggerFactory.getLogger(ResolvedKeeper.class);

	private static final Duration INTERVAL = Duration.ofHours(12);

	private static final long TIMEOUT_SECONDS = 5;

	private final JobClients clients;

	private final Map<String, Instant> last = new ConcurrentHashMap<>();

	/**
	 * Creates a keeper.
	 * @param clients connect to the cluster
	 */
	public ResolvedKeeper(JobClients clients) {
		this.clients = clients;
	}

	/**
	 * Commits what is resolved in the dead-letter topics of a queue once more, if it is
	 * time. May block for a few seconds. What goes wrong is logged, and tried again with
	 * the next call.
	 * @param queue the queue
	 * @param now the time
	 */
	public void keep(JobQueue queue, Instant now) {
		String group = Resolved.group(queue.group());
		Instant before = this.last.get(group);
		if (before != null && before.plus(INTERVAL).isAfter(now)) {
			return;
		}
		try {
			commitAgain(group);
			this.last.put(group, now);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException | QueueException ex) {
			// A job that has just joined, or a broker that does not answer.
			LOGGER.debug("Offsets of group '{}' could not be committed again", group, ex);
		}
	}

	private void commitAgain(String group) throws InterruptedException, ExecutionException, TimeoutException {
		Admin admin = this.clients.admin();
		if (JobLock.owner(admin, group, null) != null) {
			return;
		}
		Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>(admin.listConsumerGroupOffsets(group)
			.partitionsToOffsetAndMetadata()
			.get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
		offsets.values().removeIf(Objects::isNull);
		if (!offsets.isEmpty()) {
			// Refused by the broker while the group has a member.
			admin.alterConsumerGroupOffsets(group, offsets).all().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}
	}

}
