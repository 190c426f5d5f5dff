package io.queuestarter.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.browse.DeadLetterBrowser;
import io.queuestarter.browse.LetterDepth;
import io.queuestarter.browse.LetterSource;
import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;
import io.queuestarter.jobs.ResolvedKeeper;

/**
 * Counts at regular intervals, on a thread of its own, the dead letters of each queue
 * that are not resolved. To read the count costs no request. <em>Thread-safe.</em>
 */
public final class DeadLetterWatch implements AutoCloseable {

	private static final Logger LOGGER = LoggerFactory.getLogger(DeadLetterWatch.class);

	private final Queues queues;

	private final DeadLetterBrowser browser;

	private final ResolvedKeeper keeper;

	private final Duration interval;

	private final ScheduledExecutorService thread;

	private final Map<String, LetterDepth> depths = new ConcurrentHashMap<>();

	/** Used by the watch's thread alone. */
	private boolean failing;

	/**
	 * Creates a watch that does not count yet.
	 * @param queues the queues
	 * @param browser who reads dead letters
	 * @param keeper who keeps from expiring what is resolved
	 * @param interval time between two counts
	 */
	public DeadLetterWatch(Queues queues, DeadLetterBrowser browser, ResolvedKeeper keeper, Duration interval) {
		this.queues = queues;
		this.browser = browser;
		this.keeper = keeper;
		this.interval = interval;
		this.thread = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread created = new Thread(task, "queue-dead-letter-watch");
			created.setDaemon(true);
			return created;
		});
	}

	/**
	 * Begins to count at regular intervals.
	 */
	public void start() {
		long nanos = this.interval.toNanos();
		Future<?> unused = this.thread.scheduleWithFixedDelay(this::look, nanos, nanos, TimeUnit.NANOSECONDS);
	}

	private void look() {
		boolean failed = false;
		for (Queue queue : this.queues.all()) {
			failed |= !look(queue);
		}
		this.failing = failed;
	}

	/** A count that fails leaves none: an old one would look like a true one. */
	private boolean look(Queue queue) {
		Set<String> topics = queue.deadLetterTopics();
		if (topics.isEmpty()) {
			this.depths.remove(queue.id());
			return true;
		}
		try {
			this.depths.put(queue.id(), this.browser.depth(new LetterSource(topics, queue.group())));
			this.keeper.keep(queue, Instant.now());
			return true;
		}
		catch (RuntimeException ex) {
			// A look that throws would be the last one.
			this.depths.remove(queue.id());
			if (this.failing || this.thread.isShutdown()) {
				LOGGER.debug("Dead letters of queue '{}' could not be counted", queue.id(), ex);
			}
			else {
				LOGGER.warn("Dead letters of queue '{}' could not be counted; the next count follows in {}: {}",
						queue.id(), this.interval, ex.getMessage());
			}
			return false;
		}
	}

	/**
	 * Dead letters of a queue that are not resolved, in all partitions.
	 * @param queue the queue
	 * @return how many there were at the last count, or {@code null} if that is not known
	 */
	public @Nullable Long depth(Queue queue) {
		LetterDepth depth = this.depths.get(queue.id());
		return (depth != null) ? depth.count() : null;
	}

	/**
	 * Age of the oldest dead letter of a queue that is not resolved.
	 * @param queue the queue
	 * @return its age, zero if there is none, or {@code null} if that is not known
	 */
	public @Nullable Duration oldestAge(Queue queue) {
		LetterDepth depth = this.depths.get(queue.id());
		if (depth == null) {
			return null;
		}
		Instant oldest = depth.oldest();
		Duration age = (oldest != null) ? Duration.between(oldest, Instant.now()) : Duration.ZERO;
		return age.isNegative() ? Duration.ZERO : age;
	}

	@Override
	public void close() {
		this.thread.shutdownNow();
		try {
			if (!this.thread.awaitTermination(5, TimeUnit.SECONDS)) {
				LOGGER.warn("The thread that counts dead letters did not end within 5 seconds");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
