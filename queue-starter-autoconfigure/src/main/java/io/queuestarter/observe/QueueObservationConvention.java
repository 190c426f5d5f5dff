package io.queuestarter.observe;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and key values of the observation {@code kafka.queue.process}. A bean of this
 * type replaces the {@linkplain DefaultQueueObservationConvention default}. Called by
 * workers when an observation begins and, with the outcome, when it ends; must be quick.
 * The keys of low cardinality have to be the same each time.
 *
 * @since 0.1.0
 */
public interface QueueObservationConvention extends ObservationConvention<QueueObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof QueueObservationContext;
	}

}
