package io.queuestarter.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.queuestarter.container.Queues;
import io.queuestarter.handler.AttemptObserver;
import io.queuestarter.observe.QueueObservationConvention;
import io.queuestarter.observe.QueueObserver;

/**
 * Auto-configuration of the observation of attempts.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = KafkaQueueAutoConfiguration.class,
		afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean({ Queues.class, ObservationRegistry.class })
public final class QueueObservationAutoConfiguration {

	QueueObservationAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean(AttemptObserver.class)
	QueueObserver queueObserver(ObservationRegistry registry, ObjectProvider<QueueObservationConvention> conventions) {
		return new QueueObserver(registry, conventions.getIfUnique());
	}

}
