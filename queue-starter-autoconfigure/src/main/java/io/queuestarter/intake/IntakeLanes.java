package io.queuestarter.intake;

import java.util.List;
import java.util.function.BiConsumer;

import org.apache.kafka.clients.consumer.ConsumerRecord;

import io.queuestarter.context.ContextRules;
import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskQueue;

/**
 * Brings records to the dispatcher of their lane. <em>For one consumer thread.</em>
 */
/*
 * Lanes share the window of a partition and the bytes of the queue, and nothing else:
 * what waits in one lane must not keep records of another, which may lie behind, from
 * being taken in. So the bounds on waiting records do not hold as long as some lane has
 * free slots and nothing to run; window and bytes still do.
 */
public final class IntakeLanes {

	private final ContextRules rules;

	private final List<Dispatcher<Delivery>> dispatchers;

	private final Foreign foreign;

	private final BiConsumer<Delivery, Foreign> redirect;

	/**
	 * Creates the lanes of one consumer.
	 * @param rules tell the context of a record
	 * @param dispatchers run the records of the lanes served, by their index
	 * @param foreign what becomes of other records
	 * @param redirect writes such a record to another topic; never blocks
	 */
	public IntakeLanes(ContextRules rules, List<Dispatcher<Delivery>> dispatchers, Foreign foreign,
			BiConsumer<Delivery, Foreign> redirect) {
		this.rules = rules;
		this.dispatchers = List.copyOf(dispatchers);
		this.foreign = foreign;
		this.redirect = redirect;
	}

	/**
	 * Creates the one lane of a consumer whose records have no context.
	 * @param dispatcher runs its records
	 */
	public IntakeLanes(Dispatcher<Delivery> dispatcher) {
		this(ContextRules.NONE, List.of(dispatcher), Foreign.HOLD, (delivery, what) -> {
		});
	}

	List<TaskQueue<Delivery>> open(int lowMark) {
		return this.dispatchers.stream().map((dispatcher) -> dispatcher.open(lowMark)).toList();
	}

	void close(Assignment assignment) {
		for (int lane = 0; lane < this.dispatchers.size(); lane++) {
			this.dispatchers.get(lane).close(assignment.queues().get(lane));
		}
	}

	RecordContext contextOf(ConsumerRecord<?, ?> record) {
		return this.rules.of(record.headers());
	}

	/** Whether a record is to be taken for settled. */
	boolean skips(RecordContext context) {
		return !context.isServed() && this.foreign == Foreign.SKIP;
	}

	/** Takes over records that were admitted. */
	void submit(Assignment assignment, List<Delivery> admitted) {
		if (this.dispatchers.size() == 1 && admitted.stream().allMatch((delivery) -> delivery.context().isServed())) {
			this.dispatchers.get(0).submit(assignment.queues().get(0), admitted);
			return;
		}
		for (int lane = 0; lane < this.dispatchers.size(); lane++) {
			int index = lane;
			this.dispatchers.get(lane)
				.submit(assignment.queues().get(lane),
						admitted.stream().filter((delivery) -> delivery.context().index() == index).toList());
		}
		if (this.foreign != Foreign.HOLD) {
			admitted.stream()
				.filter((delivery) -> !delivery.context().isServed())
				.forEach((delivery) -> this.redirect.accept(delivery, this.foreign));
		}
	}

	/** Records that wait in the lane in which most do. */
	int waiting() {
		int most = 0;
		for (Dispatcher<Delivery> dispatcher : this.dispatchers) {
			most = Math.max(most, dispatcher.waiting());
		}
		return most;
	}

	/** The same of one partition. */
	int waiting(Assignment assignment) {
		int most = 0;
		for (int lane = 0; lane < this.dispatchers.size(); lane++) {
			most = Math.max(most, this.dispatchers.get(lane).waiting(assignment.queues().get(lane)));
		}
		return most;
	}

	/** Whether a lane has free slots and nothing to run, so that others must not wait. */
	boolean isInWant() {
		if (this.dispatchers.size() == 1) {
			return false;
		}
		for (Dispatcher<Delivery> dispatcher : this.dispatchers) {
			if (dispatcher.waiting() == 0 && dispatcher.inFlight() < dispatcher.limit()) {
				return true;
			}
		}
		return false;
	}

}
