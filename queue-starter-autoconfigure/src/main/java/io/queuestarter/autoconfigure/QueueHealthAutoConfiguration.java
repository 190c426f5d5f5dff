package io.queuestarter.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

import io.queuestarter.container.Queues;
import io.queuestarter.observe.Doctor;
import io.queuestarter.observe.QueuesHealth;

/**
 * Auto-configuration of the health of queues.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = KafkaQueueAutoConfiguration.class)
@ConditionalOnClass({ HealthContributor.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnBean(Queues.class)
@ConditionalOnEnabledHealthIndicator("queues")
public final class QueueHealthAutoConfiguration {

	QueueHealthAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean(name = "queuesHealthContributor")
	QueuesHealth queuesHealthContributor(Queues queues, Doctor doctor) {
		return new QueuesHealth(queues, doctor);
	}

}
