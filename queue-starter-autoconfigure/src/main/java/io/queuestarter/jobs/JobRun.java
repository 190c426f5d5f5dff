package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
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

	private static final Duration POLL = Duration.ofMillis(50);

	private static final Duration LOCK_LIMIT = Duration.ofSeconds(60);

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
		LOGGER.info("{} starts: filtered by {}, target {}, {} a second, by {}", this.job,
				this.job.request().filter().understood().keySet(), this.job.request().target(),
				this.job.request().rate(), this.job.request().by());
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
		JobLock lock = new JobLock();
		try (Consumer<byte[], byte[]> consumer = this.clients
			.consumer(JobLock.consumer(group(), this.job.id(), this.instance, this.job.created().toEpochMilli()))) {
			Collection<String> topics = topics();
			if (topics.isEmpty()) {
				throw new JobFailedException("Queue '" + this.queue.id() + "' has no such dead-letter topic", null);
			}
			TopicIds ids = new TopicIds(this.cluster, topics);
			consumer.subscribe(JobLock.subscription(this.cluster, group(), this.queue.deadLetterTopics()), lock);
			List<TopicPartition> partitions = this.cluster.partitions(topics);
			if (!await(lock, consumer, partitions)) {
				return;
			}
			Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions);
			Runnable lockCheck = () -> check(lock, partitions);
			ResolvedLog resolved = new ResolvedLog(consumer, begins, () -> {
				lockCheck.run();
				ids.check();
			});
			if (this.job.request().isPurgeOfAll()) {
				new PrefixPurge(this.clients.admin()).run(this.job, consumer, begins, resolved);
			}
			else {
				move(lockCheck, consumer, begins, resolved);
			}
		}
	}

	private String group() {
		return Resolved.group(this.queue.group());
	}

	private Collection<String> topics() {
		Collection<String> topics = new ArrayList<>(this.queue.deadLetterTopics());
		Object topic = this.job.request().filter().understood().get("topic");
		if (topic != null) {
			topics.removeIf((candidate) -> !candidate.equals(topic));
		}
		return topics;
	}

	/** Answers false if the job was cancelled before it was its turn. */
	private boolean await(JobLock lock, Consumer<byte[], byte[]> consumer, Collection<TopicPartition> partitions) {
		long limit = System.nanoTime() + LOCK_LIMIT.toNanos();
		while (!lock.isDecided()) {
			if (this.job.isCancelled()) {
				return false;
			}
			if (System.nanoTime() - limit > 0) {
				throw new JobFailedException("Group '" + group() + "' could not be joined within " + LOCK_LIMIT, null);
			}
			consumer.poll(POLL);
			consumer.pause(consumer.assignment());
		}
		check(lock, partitions);
		return true;
	}

	private void check(JobLock lock, Collection<TopicPartition> partitions) {
		if (!lock.owns(partitions)) {
			JobLock.Owner owner = JobLock.owner(this.cluster, group(), this.job.id());
			throw new JobFailedException(
					"The dead-letter topics belong to another job"
							+ ((owner != null) ? ": " + owner.job() + " on " + owner.instance() + owner.host() : ""),
					null);
		}
	}

	private void move(Runnable lockCheck, Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> begins,
			ResolvedLog resolved) {
		Map<TopicPartition, Long> ends = new HashMap<>(consumer.endOffsets(begins.keySet()));
		this.job.request()
			.ends()
			.forEach((partition, end) -> ends.computeIfPresent(partition, (known, now) -> Math.min(now, end)));
		LetterFeed feed = new LetterFeed(consumer, starts(begins, ends, resolved), ends);
		this.job.running(Instant.now(), feed.positions(), ends);
		try (Mover mover = mover()) {
			LetterLoop loop = new LetterLoop(this.job, batch(), lockCheck, feed, resolved, mover,
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

	private Map<TopicPartition, Long> starts(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> ends,
			ResolvedLog resolved) {
		Map<TopicPartition, Long> starts = new HashMap<>();
		begins.forEach((partition, begin) -> {
			long start = resolved.of(partition).watermark();
			start = Math.max(start, this.job.request().filter().lowest(partition).orElse(start));
			boolean wanted = this.job.request().filter().admits(partition);
			starts.put(partition, wanted ? start : ends.getOrDefault(partition, start));
		});
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
