package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;

/**
 * What is known of a job. <em>Thread-safe</em>: changed under its lock by the thread of
 * the job, and by whoever cancels it.
 */
final class Job {

	/** Letters listed that stay; the others are only counted. */
	private static final int MOST_LISTED = 100;

	private final String id;

	private final String queue;

	private final String instance;

	private final JobRequest request;

	private final Instant created;

	private final Map<JobTotals.Result, LongAdder> totals = new EnumMap<>(JobTotals.Result.class);

	private JobStatus status = JobStatus.PENDING;

	private @Nullable Instant started;

	private @Nullable Instant ended;

	private @Nullable String waitsFor;

	private @Nullable String lastError;

	private Map<TopicPartition, Long> ends = Map.of();

	private Map<TopicPartition, Long> positions = Map.of();

	private long toScan;

	private long scanned;

	private long moved;

	private long failedAgain;

	private long failed;

	private int inFlight;

	private final Map<SkipReason, Long> skipped = new EnumMap<>(SkipReason.class);

	private final List<JobView.Skipped> listed = new ArrayList<>();

	Job(String id, String queue, String instance, JobRequest request, Instant created, JobTotals totals) {
		this.id = id;
		this.queue = queue;
		this.instance = instance;
		this.request = request;
		this.created = created;
		for (JobTotals.Result result : JobTotals.Result.values()) {
			this.totals.put(result, totals.counter(queue, request.action(), result));
		}
	}

	String id() {
		return this.id;
	}

	String queue() {
		return this.queue;
	}

	JobRequest request() {
		return this.request;
	}

	Instant created() {
		return this.created;
	}

	synchronized JobStatus status() {
		return this.status;
	}

	/** Answers whether the job goes on until it notices. */
	synchronized boolean cancel() {
		if (this.status.isEnded()) {
			return false;
		}
		this.status = JobStatus.CANCELLING;
		return true;
	}

	synchronized boolean isCancelled() {
		return this.status == JobStatus.CANCELLING;
	}

	synchronized void running(Instant now, Map<TopicPartition, Long> starts, Map<TopicPartition, Long> snapshot) {
		if (this.status == JobStatus.PENDING) {
			this.status = JobStatus.RUNNING;
		}
		this.started = now;
		this.ends = Map.copyOf(snapshot);
		this.positions = Map.copyOf(starts);
		snapshot.forEach((partition, end) -> this.toScan += Math.max(0, end - starts.getOrDefault(partition, 0L)));
	}

	synchronized void progress(Map<TopicPartition, Long> positions, int underWay, @Nullable String obstacle) {
		this.positions = Map.copyOf(positions);
		this.inFlight = underWay;
		this.waitsFor = obstacle;
	}

	synchronized void scanned() {
		this.scanned++;
	}

	synchronized void moved(boolean again) {
		this.moved++;
		this.failedAgain += again ? 1 : 0;
		count(again ? JobTotals.Result.FAILED_AGAIN : JobTotals.Result.MOVED, 1);
	}

	synchronized void purged(long records) {
		this.moved += records;
		this.scanned += records;
		count(JobTotals.Result.MOVED, records);
	}

	synchronized void failed(DeadLetter letter, String reason, String error) {
		this.failed++;
		count(JobTotals.Result.FAILED, 1);
		this.lastError = letter.partition() + "@" + letter.offset() + ": " + error;
		list(letter, reason);
	}

	synchronized void skipped(DeadLetter letter, SkipReason reason) {
		this.skipped.merge(reason, 1L, Long::sum);
		count(JobTotals.Result.SKIPPED, 1);
		list(letter, reason.tag());
	}

	private void list(DeadLetter letter, String reason) {
		if (this.listed.size() < MOST_LISTED) {
			this.listed.add(new JobView.Skipped(letter.partition() + "@" + letter.offset(), reason));
		}
	}

	private void count(JobTotals.Result result, long letters) {
		Objects.requireNonNull(this.totals.get(result)).add(letters);
	}

	/** Whether it has found any dead letter that it was asked for. */
	synchronized boolean hasFound() {
		return this.moved > 0 || this.failed > 0 || !this.skipped.isEmpty();
	}

	synchronized void end(JobStatus end, Instant now, @Nullable String error) {
		this.status = end;
		this.ended = now;
		this.waitsFor = null;
		this.inFlight = 0;
		if (error != null) {
			this.lastError = error;
		}
	}

	synchronized JobView view(Instant now) {
		Map<String, Long> reasons = new TreeMap<>();
		this.skipped.forEach((reason, count) -> reasons.put(reason.tag(), count));
		boolean merges = this.request.action() != JobAction.PURGE;
		return new JobView(this.id, this.queue, this.request.action(), this.status, this.request.by(),
				this.request.reason(), this.request.filter().understood(),
				merges ? this.request.target().toString() : null,
				(this.request.edit() != null) ? this.request.edit().parts() : null, this.request.rate(),
				(this.request.max() < Long.MAX_VALUE) ? this.request.max() : null, this.instance, this.created,
				this.started, this.ended, text(this.ends), text(this.positions), this.toScan, this.scanned, this.moved,
				this.failedAgain, reasons, List.copyOf(this.listed), this.failed, this.inFlight, rate(now), eta(now),
				this.waitsFor, this.lastError);
	}

	/** How far the job has come, for the log. */
	String summary() {
		JobView view = view(Instant.now());
		return String.format(Locale.ROOT,
				"%s, %d of %d offsets scanned, %d moved (%d failed again), skipped %s, %d failed, %.1f/s",
				view.status(), view.scanned(), view.toScan(), view.moved(), view.failedAgain(), view.skipped(),
				view.failed(), view.ratePerSecond());
	}

	private double rate(Instant now) {
		Instant begin = this.started;
		if (begin == null || this.moved == 0) {
			return 0;
		}
		Instant until = (this.ended != null) ? this.ended : now;
		long millis = Math.max(1, Duration.between(begin, until).toMillis());
		return Math.round(this.moved * 10_000.0 / millis) / 10.0;
	}

	private @Nullable Duration eta(Instant now) {
		Instant begin = this.started;
		long left = 0;
		for (Map.Entry<TopicPartition, Long> entry : this.ends.entrySet()) {
			left += Math.max(0, entry.getValue() - this.positions.getOrDefault(entry.getKey(), 0L));
		}
		long passed = this.toScan - left;
		if (begin == null || this.status.isEnded() || passed <= 0) {
			return null;
		}
		return Duration.ofMillis(Duration.between(begin, now).toMillis() * left / passed);
	}

	private static Map<String, Long> text(Map<TopicPartition, Long> offsets) {
		Map<String, Long> text = new TreeMap<>();
		offsets.forEach((partition, offset) -> text.put(partition.toString(), offset));
		return text;
	}

	@Override
	public String toString() {
		return this.request.action().name().toLowerCase(Locale.ROOT) + " job '" + this.id + "' of queue '" + this.queue
				+ "'";
	}

}
