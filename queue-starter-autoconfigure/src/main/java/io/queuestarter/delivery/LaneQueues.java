package io.queuestarter.delivery;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.queuestarter.context.RecordContext;
import io.queuestarter.dispatch.TaskQueue;

/**
 * Waiting tasks of one partition, by the index of their lane. <em>Immutable.</em>
 *
 * @param own tasks of this zone, or of none
 * @param remote tasks of other zones; empty if zones make no difference
 */
public record LaneQueues(List<TaskQueue<Delivery>> own, List<TaskQueue<Delivery>> remote) {

	/**
	 * Queues of a partition without lanes.
	 * @param queue its queue
	 * @return the queues
	 */
	public static LaneQueues of(TaskQueue<Delivery> queue) {
		return new LaneQueues(List.of(queue), List.of());
	}

	/**
	 * Number of lanes.
	 * @return the number, at least 1
	 */
	public int lanes() {
		return this.own.size();
	}

	/** Where tasks of a context wait, or null if nobody runs them here. */
	@Nullable TaskQueue<Delivery> of(RecordContext context) {
		if (!context.isServed()) {
			return null;
		}
		return ((context.remote() && !this.remote.isEmpty()) ? this.remote : this.own).get(context.index());
	}

}
