package io.queuestarter.observe;

import io.micrometer.common.KeyValues;

/**
 * Names and key values unless a bean says otherwise; to be extended by those who add some
 * of their own.
 *
 * @since 0.1.0
 */
public class DefaultQueueObservationConvention implements QueueObservationConvention {

	/**
	 * Name of the observation.
	 */
	public static final String NAME = "kafka.queue.process";

	@Override
	public String getName() {
		return NAME;
	}

	@Override
	public String getContextualName(QueueObservationContext context) {
		return "process " + context.record().topic();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(QueueObservationContext context) {
		Throwable error = context.getError();
		return KeyValues.of("queue", context.queue(), "lane", context.attempt().lane(), "outcome", context.outcome(),
				"messaging.system", "kafka", "messaging.operation.name", "process", "messaging.operation.type",
				"process", "messaging.destination.name", context.record().topic(), "messaging.consumer.group.name",
				context.group(), "error.type", (error != null) ? nameOf(error.getClass()) : "none");
	}

	private static String nameOf(Class<?> type) {
		return type.getSimpleName().isEmpty() ? type.getName() : type.getSimpleName();
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(QueueObservationContext context) {
		return KeyValues.of("messaging.destination.partition.id", Integer.toString(context.record().partition()),
				"messaging.kafka.offset", Long.toString(context.record().offset()), "queue.attempt",
				Integer.toString(context.attempt().attempt()));
	}

}
