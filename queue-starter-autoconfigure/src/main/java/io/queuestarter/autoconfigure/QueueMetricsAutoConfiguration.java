package io.queuestarter.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.queuestarter.container.Queues;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.observe.DeadLetterWatch;
import io.queuestarter.observe.Doctor;
import io.queuestarter.observe.QueueMeters;

/**
 * Auto-configuration of the meters of queues.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = KafkaQueueAutoConfiguration.class)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(Queues.class)
public final class QueueMetricsAutoConfiguration {

	QueueMetricsAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	QueueMeters queueMeters(Queues queues, Doctor doctor, DeadLetterWatch deadLetters, DeadLetterJobs jobs) {
		return new QueueMeters(queues, doctor, deadLetters, jobs);
	}

}
