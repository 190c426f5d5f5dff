package io.queuestarter.intake;

import java.time.Duration;
import java.util.List;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

import io.queuestarter.context.ContextRules;
import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.dispatch.TaskQueue;

/**
 * Brings records to the dispatcher of their lane, those of other zones behind all others.
 * <em>For one consumer thread.</em>
 */
/*
 * Lanes share the window of a partition and the bytes of the queue, and nothing else:
 * what waits in one lane must not keep records of another, which may lie behind, from
 * being taken in. So the bounds on waiting records are met when all lanes have as many;
 * until then window and bytes bound what is held.
 */
public final class IntakeLanes {

	private final ContextRules rules;

	private final List<Dispatcher<Delivery>> dispatchers;

	private final Foreign foreign;

	private final ZoneRule zone;

	private final Actions actions;

	/**
	 * Creates the lanes of one consumer.
	 * @param rules tell the context of a record
	 * @param dispatchers run the records of the lanes served, by their index
	 * @param foreign what becomes of other records
	 * @param zone what becomes of records of other zones
	 * @param actions carry out what does not go to a dispatcher at once
	 */
	public IntakeLanes(ContextRules rules, List<Dispatcher<Delivery>> dispatchers, Foreign foreign, ZoneRule zone,
			Actions actions) {
		this.rules = rules;
		this.dispatchers = List.copyOf(dispatchers);
		this.foreign = foreign;
		this.zone = zone;
		this.actions = actions;
	}

	/**
	 * Creates the one lane of a consumer whose records have no context.
	 * @param dispatcher runs its records
	 */
	public IntakeLanes(Dispatcher<Delivery> dispatcher) {
		this(ContextRules.NONE, List.of(dispatcher), Foreign.HOLD, ZoneRule.NONE, Actions.NONE);
	}

	LaneQueues open(int lowMark) {
		return new LaneQueues(this.dispatchers.stream().map((dispatcher) -> dispatcher.open(lowMark)).toList(),
				this.zone.applies() ? this.dispatchers.stream().map((dispatcher) -> dispatcher.openAside(0)).toList()
						: List.of());
	}

	void close(LaneQueues queues) {
		for (int lane = 0; lane < this.dispatchers.size(); lane++) {
			this.dispatchers.get(lane).close(queues.own().get(lane));
			if (!queues.remote().isEmpty()) {
				this.dispatchers.get(lane).close(queues.remote().get(lane));
			}
		}
	}

	RecordContext contextOf(ConsumerRecord<?, ?> record) {
		return this.rules.of(record.headers());
	}

	/** Whether a record is to be taken for settled. */
	boolean skips(RecordContext context) {
		return !context.isServed() && this.foreign == Foreign.SKIP;
	}

	/**
	 * Takes over records that were admitted. Throws if no worker could be started, and
	 * all have been taken over even so.
	 */
	void submit(Assignment assignment, List<Delivery> admitted, TimeSource time) {
		LaneQueues queues = assignment.queues();
		if (this.rules == ContextRules.NONE) {
			this.dispatchers.get(0).submit(queues.own().get(0), admitted);
			return;
		}
		List<Delivery> resting = resting(admitted, time);
		Throwable failure = null;
		for (int lane = 0; lane < this.dispatchers.size(); lane++) {
			Throwable own = submit(lane, queues.own().get(lane), admitted, resting, false);
			Throwable remote = queues.remote().isEmpty() ? null
					: submit(lane, queues.remote().get(lane), admitted, resting, true);
			if (failure == null) {
				failure = (own != null) ? own : remote;
			}
		}
		resting.forEach((delivery) -> this.actions.rest(delivery, timeLeft(delivery, time)));
		if (this.foreign != Foreign.HOLD) {
			admitted.stream()
				.filter((delivery) -> !delivery.context().isServed())
				.forEach((delivery) -> this.actions.redirect(delivery, this.foreign));
		}
		rethrow(failure);
	}

	/** Answers why no worker could be started, or null. */
	private @Nullable Throwable submit(int lane, TaskQueue<Delivery> queue, List<Delivery> admitted,
			List<Delivery> resting, boolean remote) {
		List<Delivery> own = admitted.stream()
			.filter((delivery) -> delivery.context().index() == lane && isRemote(delivery) == remote)
			.filter((delivery) -> !resting.contains(delivery))
			.toList();
		try {
			this.dispatchers.get(lane).submit(queue, own);
			return null;
		}
		catch (RuntimeException | Error ex) {
			return ex;
		}
	}

	private static void rethrow(@Nullable Throwable failure) {
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException exception) {
			throw exception;
		}
	}

	private boolean isRemote(Delivery delivery) {
		return this.zone.applies() && delivery.context().remote();
	}

	private List<Delivery> resting(List<Delivery> admitted, TimeSource time) {
		if (this.zone.mode() != ZoneRule.Mode.STRICT) {
			return List.of();
		}
		return admitted.stream()
			.filter((delivery) -> delivery.context().isServed() && isRemote(delivery)
					&& timeLeft(delivery, time).compareTo(Duration.ZERO) > 0)
			.toList();
	}

	/** By the record's own time: it has waited in the log, too. */
	private Duration timeLeft(Delivery delivery, TimeSource time) {
		ConsumerRecord<?, ?> record = delivery.record();
		long age = (record != null) ? Math.max(0, time.now().toEpochMilli() - record.timestamp()) : Long.MAX_VALUE;
		Duration left = this.zone.failOverAfter().minusMillis(Math.min(age, this.zone.failOverAfter().toMillis()));
		return left.isNegative() ? Duration.ZERO : left;
	}

	/** Records that wait in the lane in which fewest do. */
	int waiting() {
		int fewest = Integer.MAX_VALUE;
		for (Dispatcher<Delivery> dispatcher : this.dispatchers) {
			fewest = Math.min(fewest, dispatcher.waiting());
		}
		return fewest;
	}

	/** The same of one partition. */
	int waiting(LaneQueues queues) {
		int fewest = Integer.MAX_VALUE;
		for (int lane = 0; lane < this.dispatchers.size(); lane++) {
			fewest = Math.min(fewest, this.dispatchers.get(lane).waiting(queues.own().get(lane)));
		}
		return fewest;
	}

	/**
	 * What is done with records that do not go to a dispatcher at once. Never blocks.
	 */
	public interface Actions {

		/**
		 * Nothing of the kind happens.
		 */
		Actions NONE = new Actions() {

			@Override
			public void redirect(Delivery delivery, Foreign foreign) {
				throw new IllegalStateException(delivery + " has nowhere to go");
			}

			@Override
			public void rest(Delivery delivery, Duration time) {
				throw new IllegalStateException(delivery + " cannot rest");
			}

		};

		/**
		 * Writes a record of a lane that is not served to another topic.
		 * @param delivery the record
		 * @param foreign where to
		 */
		void redirect(Delivery delivery, Foreign foreign);

		/**
		 * Dispatches a record later.
		 * @param delivery the record
		 * @param time time to wait
		 */
		void rest(Delivery delivery, Duration time);

	}

}
