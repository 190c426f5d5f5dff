package io.queuestarter.observe;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import io.queuestarter.QueueException;
import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueState;

/**
 * Health of one queue: DOWN if it stopped by itself, else UP. A queue that is paused,
 * stopped by an operator, or waits for a slow record is UP; its details tell.
 */
final class QueueHealthIndicator extends AbstractHealthIndicator {

	private final Queue queue;

	private final Doctor doctor;

	QueueHealthIndicator(Queue queue, Doctor doctor) {
		super("Health of queue '" + queue.id() + "' could not be told");
		this.queue = queue;
		this.doctor = doctor;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		QueueState state = this.queue.state();
		builder.status((state == QueueState.FAILED) ? "DOWN" : "UP")
			.withDetail("state", state)
			.withDetail("partitions", this.queue.partitions().size())
			.withDetail("inFlight", this.queue.inFlight())
			.withDetail("headAge", this.queue.headAge().toString())
			.withDetail("deadLettersWaiting", this.queue.deadLettersWaiting())
			.withDetail("circuits", this.queue.circuitStates());
		Throwable failure = this.queue.failure();
		if (failure != null) {
			// Other messages may tell of payloads.
			String ours = (failure instanceof QueueException) ? failure.getMessage() : null;
			detail(builder, "failure", (ours != null) ? ours : failure.getClass().getName());
		}
		detail(builder, "deadLetterProblem", this.queue.deadLetterProblem());
		detail(builder, "commitProblem", this.queue.commitProblem());
		detail(builder, "pollProblem", this.queue.pollProblem());
		detail(builder, "lastPoll", this.queue.lastPoll());
		List<Finding> findings = this.doctor.findings(this.queue);
		if (!findings.isEmpty()) {
			builder.withDetail("findings", findings);
		}
	}

	private static void detail(Health.Builder builder, String name, @Nullable Object value) {
		if (value != null) {
			builder.withDetail(name, value.toString());
		}
	}

}
