package io.queuestarter.observe;

import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthContributors.Entry;

import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;

/**
 * Health of all queues, each under its id. No broker is asked.
 */
public final class QueuesHealth implements CompositeHealthContributor {

	private final Queues queues;

	private final Doctor doctor;

	/**
	 * Creates a contributor.
	 * @param queues the queues
	 * @param doctor who says what threatens them
	 */
	public QueuesHealth(Queues queues, Doctor doctor) {
		this.queues = queues;
		this.doctor = doctor;
	}

	@Override
	public @Nullable HealthContributor getContributor(String name) {
		return this.queues.all()
			.stream()
			.filter((queue) -> nameOf(queue).equals(name))
			.map(this::indicator)
			.findFirst()
			.orElse(null);
	}

	@Override
	public Stream<Entry> stream() {
		return this.queues.all().stream().map((queue) -> new Entry(nameOf(queue), indicator(queue)));
	}

	private HealthContributor indicator(Queue queue) {
		return new QueueHealthIndicator(queue, this.doctor);
	}

	/** A slash separates the parts of a health path. */
	private static String nameOf(Queue queue) {
		return queue.id().replace('/', '_');
	}

}
