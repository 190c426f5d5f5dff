package io.queuestarter.jobs;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.browse.Resolved;

/**
 * Carries one job out, on a thread of its own.
 */
final class JobRun implements Runnable {

	private static final Logger LOGGER = LoggerFactory.getLogger(JobRun.class);

	/**
	 * Bounds what is repeated after a crash, and how long a cancelled job takes to end.
	 */
	static final int BATCH = 500;

	/** Copies are written faster than handlers run. */
	static final int TOPIC_BATCH = 5_000;

	private final Job job;

	private final JobQueue queue;

	private final JobClients clients;

	private final ClusterLook cluster;

	private final String instance;

	private final int maxMerges;

	JobRun(Job job, JobQueue queue, JobClients clients, String instance, int maxMerges) {
		this.job = job;
		this.queue = queue;
		this.clients = clients;
		this.cluster = new ClusterLook(clients.admin());
		this.instance = instance;
		this.maxMerges = maxMerges;
	}

	@Override
	public void run() {
		// Without what people have written: it may tell what is in a record.
		JobRequest request = this.job.request();
		LOGGER.info("{} starts: filtered by {}, target {}, {} a second, by {}", this.job,
				request.filter().understood().keySet(),
				(request.action() != JobAction.PURGE) ? request.target() : "none", request.rate(), request.by());
		try {
			work();
			this.job.end(this.job.isCancelled() ? JobStatus.CANCELLED : JobStatus.COMPLETED, Instant.now(), null);
			LOGGER.info("{} has ended: {}", this.job, this.job.summary());
		}
		catch (Throwable ex) {
			this.job.end(JobStatus.FAILED, Instant.now(),
					(ex instanceof QueueException) ? ex.getMessage() : ex.toString());
			LOGGER.error("{} failed: {}", this.job, this.job.summary(), ex);
		}
	}

	private void work() {
		checkTarget();
		Collection<String> topics = topics();
		Ownership ownership = new Ownership(this.job, group(), topics, this.cluster);
		try (Consumer<byte[], byte[]> consumer = this.clients
			.consumer(JobLock.settings(group(), this.job.id(), this.instance, this.job.created().toEpochMilli()))) {
			consumer.subscribe(JobLock.subscription(this.cluster, group(), this.queue.deadLetterTopics()),
					ownership.lock());
			if (!ownership.await(consumer)) {
				return;
			}
			ownership.checkAll();
			Map<TopicPartition, Long> begins = consumer.beginningOffsets(ownership.partitions());
			ResolvedLog resolved = new ResolvedLog(consumer, begins, ownership::checkAll);
			if (this.job.request().isPurgeOfAll()) {
				new PrefixPurge(this.clients.admin()).run(this.job, consumer, begins, resolved);
			}
			else {
				move(ownership, consumer, begins, resolved);
			}
			if (this.job.request().action() == JobAction.REPLAY && !this.job.isCancelled() && !this.job.hasFound()) {
				throw new JobFailedException(
						"There is no such dead letter to be replayed, or it is resolved already; nothing was done",
						null);
			}
		}
	}

	/** Since a plan may be minutes old. */
	private void checkTarget() {
		String topic = this.job.request().target().topic();
		if (topic != null && !this.cluster.exists(topic)) {
			throw new JobFailedException("Topic '" + topic + "', the target, does not exist any more", null);
		}
	}

	private String group() {
		return Resolved.group(this.queue.group());
	}

	private Collection<String> topics() {
		String topic = this.job.request().filter().topic();
		return this.queue.deadLetterTopics()
			.stream()
			.filter((candidate) -> topic == null || topic.equals(candidate))
			.toList();
	}

	private void move(Ownership ownership, Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> begins,
			ResolvedLog resolved) {
		Map<TopicPartition, Long> ends = this.job.request().bounds(begins, consumer.endOffsets(begins.keySet()));
		LetterFeed feed = new LetterFeed(consumer, starts(consumer, ends, resolved), ends);
		this.job.running(Instant.now(), feed.positions(), ends);
		try (Mover mover = mover()) {
			LetterLoop loop = new LetterLoop(this.job, batch(), ownership::check, feed, resolved, mover,
					new LetterJudge(this.queue, this.job.request(), this.maxMerges, this.cluster));
			try {
				loop.run();
			}
			catch (RuntimeException ex) {
				finish(loop, ex);
				throw ex;
			}
			loop.finish();
		}
	}

	/** What is resolved is saved also if the job fails, if that can be. */
	private static void finish(LetterLoop loop, RuntimeException cause) {
		try {
			loop.finish();
		}
		catch (RuntimeException ex) {
			cause.addSuppressed(ex);
		}
	}

	/** No earlier than what can be meant. */
	private Map<TopicPartition, Long> starts(Consumer<?, ?> consumer, Map<TopicPartition, Long> ends,
			ResolvedLog resolved) {
		LetterFilter filter = this.job.request().filter();
		Map<TopicPartition, Long> starts = new HashMap<>();
		ends.forEach((partition, end) -> {
			long watermark = resolved.of(partition).watermark();
			starts.put(partition,
					filter.admits(partition) ? Math.max(watermark, filter.lowest(partition).orElse(watermark)) : end);
		});
		Instant from = filter.from();
		if (from != null) {
			Map<TopicPartition, Long> times = new HashMap<>();
			starts.keySet().forEach((partition) -> times.put(partition, from.toEpochMilli()));
			consumer.offsetsForTimes(times).forEach((partition, first) -> {
				if (first != null) {
					starts.merge(partition, first.offset(), Math::max);
				}
			});
		}
		return starts;
	}

	private Mover mover() {
		JobRequest request = this.job.request();
		if (request.action() == JobAction.PURGE) {
			return new MarkMover();
		}
		return (request.target().kind() == JobTarget.Kind.HANDLER)
				? new HandlerMover(this.queue.redelivery(), request.edit())
				: new TopicMover(this.clients.producer(), request.target(), request.edit(), batch());
	}

	private int batch() {
		JobRequest request = this.job.request();
		int most = (request.action() == JobAction.MERGE && request.target().kind() == JobTarget.Kind.HANDLER) ? BATCH
				: TOPIC_BATCH;
		return (request.rate() > 0) ? Math.min(most, Math.max(1, request.rate())) : most;
	}

}
