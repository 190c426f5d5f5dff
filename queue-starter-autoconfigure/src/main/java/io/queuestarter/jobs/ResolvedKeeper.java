package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
import io.queuestarter.browse.Resolved;

/**
 * Keeps what is resolved from being forgotten. Kafka deletes the offsets of a group that
 * has been without members for {@code offsets.retention.minutes}, a week by default; dead
 * letters may lie longer, and would all be unresolved again. So the group gets a member
 * for a moment twice a day, unless it has one: a commit would not do, since the time
 * counts from when the last member left. <em>Thread-safe.</em>
 */
public final class ResolvedKeeper {

	private static final Logger LOGGER = LoggerFactory.getLogger(ResolvedKeeper.class);

	private static final Duration INTERVAL = Duration.ofHours(12);

	private static final Duration JOIN_LIMIT = Duration.ofSeconds(15);

	private static final Duration POLL = Duration.ofMillis(100);

	private final JobClients clients;

	private final String instance;

	private final Map<String, Instant> last = new ConcurrentHashMap<>();

	/**
	 * Creates a keeper.
	 * @param clients connect to the cluster
	 * @param instance name of the process
	 */
	public ResolvedKeeper(JobClients clients, String instance) {
		this.clients = clients;
		this.instance = instance;
	}

	/**
	 * Renews the group of a queue's dead letters, if it is time. May block for some
	 * seconds, in which no job can start. What goes wrong is logged, and tried again with
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
			renew(queue, group, now);
			this.last.put(group, now);
		}
		catch (QueueException | KafkaException ex) {
			LOGGER.warn("Group '{}', which tells which dead letters are resolved, could not be kept from expiring: {}",
					group, ex.toString());
		}
	}

	private void renew(JobQueue queue, String group, Instant now) {
		ClusterLook cluster = new ClusterLook(this.clients.admin());
		if (cluster.committed(group).isEmpty() || JobLock.owner(cluster, group, null) != null) {
			return;
		}
		JobLock lock = new JobLock(queue.deadLetterTopics());
		try (Consumer<byte[], byte[]> consumer = this.clients
			.consumer(JobLock.settings(group, JobLock.KEEPER, this.instance, now.toEpochMilli()))) {
			consumer.subscribe(JobLock.subscription(cluster, group, queue.deadLetterTopics()), lock);
			long limit = System.nanoTime() + JOIN_LIMIT.toNanos();
			while (!lock.isDecided() && System.nanoTime() - limit < 0) {
				consumer.poll(POLL);
			}
			if (!lock.isDecided()) {
				throw new QueueException("It could not be joined within " + JOIN_LIMIT, null);
			}
		}
	}

}
