package io.queuestarter.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListenerConfigurer;
import org.springframework.validation.Validator;

/**
 * Auto-configuration that makes {@code @Valid} work on payloads: gives the application's
 * validator to Spring Kafka if nobody has. It works for {@code @KafkaListener} methods
 * too.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = KafkaQueueAutoConfiguration.class,
		afterName = "org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration")
@ConditionalOnClass({ KafkaListenerConfigurer.class, Validator.class })
@ConditionalOnBean(Validator.class)
public final class QueueValidationAutoConfiguration {

	QueueValidationAutoConfiguration() {
	}

	@Bean
	KafkaListenerConfigurer queueValidationConfigurer(Validator validator) {
		return (registrar) -> {
			if (registrar.getValidator() == null) {
				registrar.setValidator(validator);
			}
		};
	}

}
