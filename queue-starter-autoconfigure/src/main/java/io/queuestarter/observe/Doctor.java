package io.queuestarter.observe;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.container.LogWatch;
import io.queuestarter.container.PartitionView;
import io.queuestarter.container.PartitionView.Head;
import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;
import io.queuestarter.observe.Finding.Kind;

/**
 * Looks for what threatens the promises of queues: retention that comes close to a record
 * not yet settled, commits that keep failing, watermarks that do not move. Each finding
 * is logged once when it appears and once when it is gone. <em>Thread-safe.</em>
 * <p>
 * A thread of its own asks the broker about the logs; findings are made of snapshots, so
 * to read them costs no request.
 */
public final class Doctor implements AutoCloseable {

	private static final Logger LOGGER = LoggerFactory.getLogger(Doctor.class);

	private final Queues queues;

	/** Used by the doctor's thread alone. */
	private final LogWatch logs;

	private final DoctorSettings settings;

	private final ScheduledExecutorService thread;

	/** Used by the doctor's thread alone. */
	private Map<String, String> known = Map.of();

	/**
	 * Creates a doctor who does not look yet.
	 * @param queues the queues
	 * @param logs where the broker is asked
	 * @param settings what is too long
	 */
	public Doctor(Queues queues, LogWatch logs, DoctorSettings settings) {
		this.queues = queues;
		this.logs = logs;
		this.settings = settings;
		this.thread = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread created = new Thread(task, "queue-doctor");
			created.setDaemon(true);
			return created;
		});
	}

	/**
	 * Begins to look at regular intervals.
	 */
	public void start() {
		long nanos = this.settings.interval().toNanos();
		this.thread.scheduleWithFixedDelay(this::look, nanos, nanos, TimeUnit.NANOSECONDS);
	}

	private void look() {
		try {
			this.logs.look(this.queues.all());
			report();
		}
		catch (RuntimeException ex) {
			// A look that throws would be the last one.
			LOGGER.warn("The doctor could not look after the queues; the next look follows in {}",
					this.settings.interval(), ex);
		}
	}

	private void report() {
		Map<String, String> current = new HashMap<>();
		for (Queue queue : this.queues.all()) {
			for (Finding finding : findings(queue)) {
				String subject = finding.kind() + " of queue '" + queue.id() + "', " + finding.topic() + "-"
						+ finding.partition();
				current.put(subject, finding.toString());
			}
		}
		current.forEach((subject, text) -> {
			if (!this.known.containsKey(subject)) {
				LOGGER.warn("{}: {}", subject, text);
			}
		});
		this.known.keySet().forEach((subject) -> {
			if (!current.containsKey(subject)) {
				LOGGER.info("{}: no longer so", subject);
			}
		});
		this.known = current;
	}

	/**
	 * What threatens a queue now.
	 * @param queue the queue
	 * @return findings by partition; empty if all is well
	 */
	public List<Finding> findings(Queue queue) {
		List<Finding> findings = new ArrayList<>();
		Instant now = Instant.now();
		for (PartitionView view : queue.partitions()) {
			examine(view, this.settings, now, findings);
		}
		return findings;
	}

	static void examine(PartitionView view, DoctorSettings settings, Instant now, List<Finding> findings) {
		Head head = view.head();
		Duration retention = view.log().retention();
		if (head != null && retention != null) {
			Instant since = head.timestamp().plus(scaled(retention, settings));
			if (since.isBefore(now)) {
				findings.add(finding(Kind.RETENTION, view, head.offset(), since, "the broker deletes records after "
						+ retention + ", this one is not settled and " + state(head)));
			}
		}
		Instant failing = view.commit().failingSince();
		if (failing != null && failing.plus(settings.commitsFailing()).isBefore(now)) {
			findings.add(finding(Kind.COMMITS_FAILING, view, Math.max(view.committed(), 0), failing,
					"commits fail, records settled from here on run again if the partition changes hands"));
		}
		if (view.unmovedSince().plus(settings.watermarkStuck()).isBefore(now)) {
			findings.add(finding(Kind.WATERMARK_STUCK, view, view.watermark(), view.unmovedSince(),
					"the watermark does not move, " + ((head != null) ? "its record " + state(head)
							: view.paused() ? "the partition is paused" : "nothing is fetched")));
		}
	}

	private static Duration scaled(Duration retention, DoctorSettings settings) {
		return Duration.ofMillis((long) (retention.toMillis() * settings.retentionShare()));
	}

	private static Finding finding(Kind kind, PartitionView view, long offset, Instant since, String text) {
		return new Finding(kind, view.partition().topic(), view.partition().partition(), offset, since, text);
	}

	private static String state(Head head) {
		return "is " + head.state() + " on attempt " + head.attempt()
				+ ((head.error() != null) ? " after " + head.error() : "");
	}

	@Override
	public void close() {
		this.thread.shutdownNow();
		try {
			if (!this.thread.awaitTermination(5, TimeUnit.SECONDS)) {
				LOGGER.warn("The doctor's thread did not end within 5 seconds");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
