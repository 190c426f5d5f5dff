package io.queuestarter.observe;

import java.time.Duration;
import java.util.Comparator;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.PartitionView.Head;
import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueState;

/**
 * Health of one queue: DOWN if it stopped by itself, else UP. A queue that is paused,
 * stopped by an operator, or waits for a slow record is UP; its details tell.
 */
final class QueueHealthIndicator extends AbstractHealthIndicator {

	private final Queue queue;

	QueueHealthIndicator(Queue queue) {
		super("Health of queue '" + queue.id() + "' could not be told");
		this.queue = queue;
	}

	@Override
	protected void doHealthCheck(Health.Builder builder) {
		QueueState state = this.queue.state();
		builder.status((state == QueueState.FAILED) ? "DOWN" : "UP")
			.withDetail("state", state)
			.withDetail("partitions", this.queue.partitions().size())
			.withDetail("inFlight", this.queue.inFlight())
			.withDetail("headAge", headAge().toString())
			.withDetail("deadLettersWaiting", this.queue.deadLettersWaiting());
		Throwable failure = this.queue.failure();
		if (failure != null) {
			builder.withDetail("failure", failure.getClass().getName());
		}
		String problem = this.queue.deadLetterProblem();
		if (problem != null) {
			builder.withDetail("deadLetterProblem", problem);
		}
		if (this.queue.lastPoll() != null) {
			builder.withDetail("lastPoll", this.queue.lastPoll().toString());
		}
	}

	private Duration headAge() {
		return this.queue.partitions()
			.stream()
			.map(PartitionView::head)
			.filter((head) -> head != null)
			.map(Head::age)
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
	}

}
