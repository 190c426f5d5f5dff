package io.queuestarter.container;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;

/**
 * The consumers of a queue that have a {@code group.instance.id}, and what keeps them out
 * of the group. <em>Thread-safe.</em>
 */
final class StaticMembers {

	private static final Logger LOGGER = LoggerFactory.getLogger(StaticMembers.class);

	private final String queue;

	private final String group;

	private final Consumer<Throwable> stop;

	private final AtomicBoolean fenced = new AtomicBoolean();

	/** Why members are not admitted to the group, by their static id. */
	private final Map<String, QueueException> refused = new ConcurrentHashMap<>();

	/**
	 * Creates an empty list.
	 * @param queue id of the queue
	 * @param group its consumer group
	 * @param stop stops the queue
	 */
	StaticMembers(String queue, String group, Consumer<Throwable> stop) {
		this.queue = queue;
		this.group = group;
		this.stop = stop;
	}

	/** The queue begins to start. */
	void starting() {
		this.fenced.set(false);
		this.refused.clear();
	}

	/** Another process has taken the place of a member: the queue stops, once. */
	void fenced(String instanceId, KafkaException error) {
		if (this.fenced.compareAndSet(false, true)) {
			this.stop.accept(new QueueException(
					"Another process has joined group '" + this.group + "' with group.instance.id '" + instanceId
							+ "' of queue '" + this.queue + "'; give each process an id of its own",
					error));
		}
	}

	/** Another process has the place of a member. */
	void refused(String instanceId, KafkaException error) {
		QueueException problem = new QueueException("Group '" + this.group + "' does not take queue '" + this.queue
				+ "', since another process has its group.instance.id '" + instanceId
				+ "'; it joins when that one has left or its session has ended", error);
		if (this.refused.put(instanceId, problem) == null) {
			LOGGER.error(problem.getMessage());
		}
	}

	/** A member is in the group, or asks no more. */
	void noLongerRefused(String instanceId) {
		this.refused.remove(instanceId);
	}

	/** Why a member is kept out of the group, if one is. */
	@Nullable QueueException problem() {
		return this.refused.values().stream().findFirst().orElse(null);
	}

}
