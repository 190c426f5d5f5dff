package io.queuestarter.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.producer.ProducerConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaProducerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.util.StringUtils;

import io.queuestarter.context.ContextInterceptor;

/**
 * Auto-configuration of Spring Boot's producer factory: what handlers send belongs to the
 * lane of the record they handle.
 *
 * @since 0.1.0
 */
@AutoConfiguration
@ConditionalOnClass(DefaultKafkaProducerFactoryCustomizer.class)
@ConditionalOnBooleanProperty(name = "kafka-queue.enabled", matchIfMissing = true)
@EnableConfigurationProperties(KafkaQueueProperties.class)
public final class QueueProducerAutoConfiguration {

	QueueProducerAutoConfiguration() {
	}

	/** Last, so that what others set is kept. */
	@Bean
	@Order(Ordered.LOWEST_PRECEDENCE)
	DefaultKafkaProducerFactoryCustomizer queueContextProducerFactoryCustomizer(KafkaQueueProperties properties) {
		return (factory) -> {
			if (properties.propagation().enabled() && properties.hasLanes()) {
				String key = ProducerConfig.INTERCEPTOR_CLASSES_CONFIG;
				factory.updateConfigs(Map.of(key, withOurs(factory.getConfigurationProperties().get(key))));
			}
		};
	}

	/** A list of names, of classes or of both, or text with commas. */
	private static List<Object> withOurs(@Nullable Object configured) {
		List<Object> interceptors = new ArrayList<>();
		if (configured instanceof Collection<?> several) {
			interceptors.addAll(several);
		}
		else if (configured instanceof String text) {
			interceptors.addAll(List.of(StringUtils.tokenizeToStringArray(text, ",")));
		}
		else if (configured != null) {
			interceptors.add(configured);
		}
		if (!interceptors.contains(ContextInterceptor.class)
				&& !interceptors.contains(ContextInterceptor.class.getName())) {
			interceptors.add(ContextInterceptor.class.getName());
		}
		return interceptors;
	}

}
