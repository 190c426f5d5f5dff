package io.queuestarter.autoconfigure;

import java.time.Clock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import io.queuestarter.QueuePayloadMask;
import io.queuestarter.actuate.DeadLetterActions;
import io.queuestarter.actuate.JobAudit;
import io.queuestarter.actuate.OperationGuard;
import io.queuestarter.actuate.PayloadAccess;
import io.queuestarter.actuate.QueueDlqEndpoint;
import io.queuestarter.actuate.QueueJobsEndpoint;
import io.queuestarter.actuate.QueuesEndpoint;
import io.queuestarter.browse.DeadLetterBrowser;
import io.queuestarter.container.QueueRuntime;
import io.queuestarter.container.Queues;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.Planner;
import io.queuestarter.observe.DeadLetterWatch;
import io.queuestarter.observe.Doctor;

/**
 * Auto-configuration of the endpoints of queues.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = { KafkaQueueAutoConfiguration.class, EndpointAutoConfiguration.class })
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(Queues.class)
public final class QueueEndpointAutoConfiguration {

	QueueEndpointAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnAvailableEndpoint
	QueuesEndpoint queuesEndpoint(Queues queues, Doctor doctor, DeadLetterWatch deadLetters) {
		return new QueuesEndpoint(queues, doctor, deadLetters);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnAvailableEndpoint
	QueueDlqEndpoint queueDlqEndpoint(Queues queues, DeadLetterBrowser browser, KafkaQueueProperties properties,
			ObjectProvider<QueuePayloadMask> masks, DeadLetterJobs jobs, QueueRuntime runtime) {
		KafkaQueueProperties.Dlq settings = properties.dlq();
		PayloadAccess access = new PayloadAccess(Show.valueOf(settings.showPayloads().name()), settings.roles(),
				masks.orderedStream().toList());
		Planner planner = new Planner(runtime.jobClients(), browser, jobs.maxMerges(), Clock.systemUTC());
		return new QueueDlqEndpoint(queues, browser, access,
				new DeadLetterActions(queues, jobs, planner, settings.validMergeRate()));
	}

	@Bean
	@ConditionalOnMissingBean
	JobAudit queueJobAudit(ApplicationEventPublisher publisher) {
		return new JobAudit(publisher);
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnAvailableEndpoint
	QueueJobsEndpoint queueJobsEndpoint(DeadLetterJobs jobs) {
		return new QueueJobsEndpoint(jobs);
	}

	// Behind Spring Boot's own, so that no problem is kept as an answer.
	@Bean
	@ConditionalOnMissingBean
	OperationGuard queueOperationGuard() {
		return new OperationGuard();
	}

}
