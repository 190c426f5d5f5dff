package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

import io.queuestarter.browse.Resolved;

/**
 * The jobs of this process. <em>Thread-safe.</em>
 * <p>
 * One job at a time works on the dead letters of a consumer group, over all instances.
 * Each has a thread of its own. With the application running jobs are cancelled, before
 * the queues stop.
 */
public final class DeadLetterJobs implements SmartLifecycle {

	private static final Logger LOGGER = LoggerFactory.getLogger(DeadLetterJobs.class);

	/** Jobs that are remembered after their end. */
	private static final int HISTORY = 100;

	private static final Duration STOP_LIMIT = Duration.ofSeconds(60);

	private final JobClients clients;

	private final String instance;

	private final int maxMerges;

	private final List<JobListener> listeners;

	private final JobTotals totals = new JobTotals();

	/** Oldest first. Guarded by this. */
	private final Map<String, Job> jobs = new LinkedHashMap<>();

	/** Guarded by this. */
	private final Map<String, Thread> threads = new LinkedHashMap<>();

	private volatile boolean running;

	/**
	 * Creates the jobs of a process.
	 * @param clients connect to the cluster
	 * @param instance name of the process
	 * @param maxMerges times that a dead letter is merged at most
	 * @param listeners told of what jobs do
	 */
	public DeadLetterJobs(JobClients clients, String instance, int maxMerges, List<JobListener> listeners) {
		this.clients = clients;
		this.instance = instance;
		this.maxMerges = maxMerges;
		this.listeners = List.copyOf(listeners);
	}

	/**
	 * Name of this process.
	 * @return the name
	 */
	public String instance() {
		return this.instance;
	}

	/**
	 * Times that a dead letter is merged at most.
	 * @return the number
	 */
	public int maxMerges() {
		return this.maxMerges;
	}

	/**
	 * What became of the dead letters that the jobs took.
	 * @return counts that go on
	 */
	public JobTotals totals() {
		return this.totals;
	}

	/**
	 * Jobs of this process that have not ended.
	 * @param queue id of the queue whose dead letters they work on
	 * @return the number
	 */
	public synchronized long active(String queue) {
		return this.jobs.values()
			.stream()
			.filter((job) -> job.queue().equals(queue) && !job.status().isEnded())
			.count();
	}

	/**
	 * Starts a job and returns at once. May ask the broker, for a few seconds at most,
	 * whether another instance has one.
	 * @param queue whose dead letters it works on
	 * @param request what it is to do
	 * @return the job
	 * @throws JobRunningException if another one works on the same dead letters
	 */
	public JobView start(JobQueue queue, JobRequest request) {
		Job job;
		synchronized (this) {
			this.jobs.values()
				.stream()
				.filter((other) -> other.queue().equals(queue.id()) && !other.status().isEnded())
				.findFirst()
				.ifPresent((other) -> {
					throw new JobRunningException(other.id(), this.instance, null);
				});
			if (!this.running) {
				throw new JobFailedException("The application stops", null);
			}
			job = new Job(newId(), queue.id(), this.instance, request, Instant.now(), this.totals);
			this.jobs.put(job.id(), job);
		}
		try {
			JobLock.Owner owner = JobLock.owner(new ClusterLook(this.clients.admin()), Resolved.group(queue.group()),
					null);
			if (owner != null && !owner.isKeeper()) {
				throw new JobRunningException(owner.job(), owner.instance(), owner.host());
			}
			begin(job, queue);
		}
		catch (RuntimeException ex) {
			synchronized (this) {
				this.jobs.remove(job.id());
			}
			throw ex;
		}
		return job.view(Instant.now());
	}

	private void begin(Job job, JobQueue queue) {
		tell((listener) -> listener.started(job.view(Instant.now())));
		JobRun run = new JobRun(job, queue, this.clients, this.instance, this.maxMerges);
		Thread thread = new Thread(() -> {
			run.run();
			ended(job);
		}, "queue-job-" + job.id());
		thread.setDaemon(true);
		synchronized (this) {
			if (!this.running) {
				throw new JobFailedException("The application stops", null);
			}
			this.threads.put(job.id(), thread);
			thread.start();
		}
	}

	private void ended(Job job) {
		synchronized (this) {
			this.threads.remove(job.id());
			List<String> over = new ArrayList<>();
			this.jobs.values().stream().filter((other) -> other.status().isEnded()).map(Job::id).forEach(over::add);
			over.stream().limit(Math.max(0, over.size() - HISTORY)).forEach(this.jobs::remove);
		}
		tell((listener) -> listener.ended(job.view(Instant.now())));
	}

	/** Listeners are user code, and change nothing of a job. */
	private void tell(Consumer<JobListener> event) {
		for (JobListener listener : this.listeners) {
			try {
				event.accept(listener);
			}
			catch (RuntimeException ex) {
				LOGGER.warn("{} could not take an event of a job", listener.getClass().getName(), ex);
			}
		}
	}

	private static String newId() {
		return "j" + UUID.randomUUID().toString().substring(0, 8);
	}

	/**
	 * Whether there is a topic of a name. Asks the broker.
	 * @param topic the name
	 * @return {@code false} if there is none
	 */
	public boolean exists(String topic) {
		return new ClusterLook(this.clients.admin()).exists(topic);
	}

	/**
	 * Tells a job to end. What is under way is waited for: for seconds as a rule, a
	 * minute at most if the broker does not answer.
	 * @param id id of the job
	 * @param by who asks
	 * @return whether there is such a job, and it had not ended
	 */
	public boolean cancel(String id, String by) {
		Job job = job(id);
		if (job == null || !job.cancel()) {
			return false;
		}
		tell((listener) -> listener.cancelled(job.view(Instant.now()), by));
		return true;
	}

	private synchronized @Nullable Job job(String id) {
		return this.jobs.get(id);
	}

	/**
	 * One job.
	 * @param id its id
	 * @return the job, if it is remembered
	 */
	public Optional<JobView> find(String id) {
		return Optional.ofNullable(job(id)).map((job) -> job.view(Instant.now()));
	}

	/**
	 * All jobs of this process that are remembered: those that run, and the last that are
	 * over.
	 * @return the jobs, latest first
	 */
	public List<JobView> all() {
		List<Job> known;
		synchronized (this) {
			known = new ArrayList<>(this.jobs.values());
		}
		Collections.reverse(known);
		Instant now = Instant.now();
		return known.stream().map((job) -> job.view(now)).toList();
	}

	@Override
	public void start() {
		this.running = true;
	}

	/** Cancels all jobs, and waits for them. */
	@Override
	public void stop() {
		List<Thread> left;
		synchronized (this) {
			this.running = false;
			this.threads.keySet().forEach((id) -> Optional.ofNullable(this.jobs.get(id)).ifPresent(Job::cancel));
			left = new ArrayList<>(this.threads.values());
		}
		long limit = System.nanoTime() + STOP_LIMIT.toNanos();
		for (Thread thread : left) {
			try {
				thread.join(Math.max(1, (limit - System.nanoTime()) / 1_000_000));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return;
			}
			if (thread.isAlive()) {
				LOGGER.warn("Thread '{}' did not end within {}", thread.getName(), STOP_LIMIT);
			}
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/** Last to start and first to stop, before the consumers do. */
	@Override
	public int getPhase() {
		return Integer.MAX_VALUE;
	}

}
