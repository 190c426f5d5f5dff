package io.queuestarter.actuate;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

import io.queuestarter.jobs.JobListener;
import io.queuestarter.jobs.JobView;

/**
 * Publishes an audit event when a job on dead letters is started, cancelled or over:
 * types {@code QUEUE_JOB_STARTED}, {@code QUEUE_JOB_CANCELLED} and
 * {@code QUEUE_JOB_ENDED}. <em>Thread-safe.</em>
 */
public final class JobAudit implements JobListener {

	private final ApplicationEventPublisher publisher;

	/**
	 * Creates an audit trail.
	 * @param publisher publishes the events
	 */
	public JobAudit(ApplicationEventPublisher publisher) {
		this.publisher = publisher;
	}

	@Override
	public void started(JobView job) {
		publish("QUEUE_JOB_STARTED", job.by(), job);
	}

	@Override
	public void cancelled(JobView job, String by) {
		publish("QUEUE_JOB_CANCELLED", by, job);
	}

	@Override
	public void ended(JobView job) {
		publish("QUEUE_JOB_ENDED", job.by(), job);
	}

	private void publish(String type, @Nullable String by, JobView job) {
		Map<String, @Nullable Object> data = new LinkedHashMap<>();
		data.put("job", job.id());
		data.put("queue", job.queue());
		data.put("action", job.action().name());
		data.put("filter", job.filter());
		data.put("status", job.status().name());
		data.put("moved", job.moved());
		data.put("failedAgain", job.failedAgain());
		data.put("skipped", job.skipped());
		data.put("failed", job.failed());
		putIfKnown(data, "target", job.target());
		putIfKnown(data, "reason", job.reason());
		putIfKnown(data, "edited", job.edited());
		putIfKnown(data, "lastError", job.lastError());
		this.publisher.publishEvent(new AuditApplicationEvent(new AuditEvent((by != null) ? by : "", type, data)));
	}

	private static void putIfKnown(Map<String, @Nullable Object> data, String name, @Nullable Object value) {
		if (value != null) {
			data.put(name, value);
		}
	}

}
