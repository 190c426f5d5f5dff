package io.queuestarter.autoconfigure;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.queuestarter.actuate.QueuesEndpoint;
import io.queuestarter.container.Queues;
import io.queuestarter.observe.Doctor;

/**
 * Auto-configuration of the endpoints of queues.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = KafkaQueueAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(Queues.class)
@ConditionalOnAvailableEndpoint(endpoint = QueuesEndpoint.class)
public final class QueueEndpointAutoConfiguration {

	QueueEndpointAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	QueuesEndpoint queuesEndpoint(Queues queues, Doctor doctor) {
		return new QueuesEndpoint(queues, doctor);
	}

}
