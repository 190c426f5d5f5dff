package io.queuestarter.sample;

import java.time.Duration;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.PartitionView.Head;
import io.queuestarter.container.Queue;

/**
 * Watches a queue, which can tell all of it; {@code /actuator/queues} shows the same.
 *
 * @param queue the queue
 * @param providers know the calls under way
 */
record QueueWatch(Queue queue, Providers providers) implements Watch {

	@Override
	public Progress look() {
		return this.queue.partitions()
			.stream()
			.findFirst()
			.map(this::look)
			.orElseGet(
					() -> new Progress(-1, -1, 0, this.providers.running(), Duration.ZERO, this.queue.deadLettered()));
	}

	private Progress look(PartitionView partition) {
		Head head = partition.head();
		return new Progress(partition.committed(), partition.watermark(), partition.settled(), this.providers.running(),
				(head != null) ? head.age() : Duration.ZERO, this.queue.deadLettered());
	}

}
