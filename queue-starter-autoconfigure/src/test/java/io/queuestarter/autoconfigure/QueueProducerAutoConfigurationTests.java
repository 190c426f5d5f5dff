package io.queuestarter.autoconfigure;

import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.producer.ProducerConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaProducerFactoryCustomizer;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.core.ProducerFactory;

import io.queuestarter.context.ContextInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which interceptors Spring Boot's producer factory has.
 */
class QueueProducerAutoConfigurationTests {

	private static final String EXISTING = "spring.kafka.producer.properties.interceptor.classes=com.acme.A, com.acme.B";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(KafkaAutoConfiguration.class, QueueProducerAutoConfiguration.class));

	private final ApplicationContextRunner lanes = this.runner
		.withPropertyValues("kafka-queue.listeners.billing.lanes.header=tenancy");

	@Test
	void withoutLanesNothingIsAdded() {
		this.runner.withPropertyValues(EXISTING)
			.run((context) -> assertThat(interceptors(context)).isEqualTo("com.acme.A, com.acme.B"));
	}

	@Test
	void lanesAddTheirInterceptor() {
		this.lanes
			.run((context) -> assertThat(interceptors(context)).isEqualTo(List.of(ContextInterceptor.class.getName())));
		this.runner.withPropertyValues("kafka-queue.defaults.lanes.header=tenancy")
			.run((context) -> assertThat(interceptors(context)).isEqualTo(List.of(ContextInterceptor.class.getName())));
	}

	@Test
	void otherInterceptorsAreKept() {
		this.lanes.withPropertyValues(EXISTING)
			.run((context) -> assertThat(interceptors(context))
				.isEqualTo(List.of("com.acme.A", "com.acme.B", ContextInterceptor.class.getName())));
	}

	@Test
	void interceptorThatIsThereAlreadyIsNotAddedTwice() {
		this.lanes
			.withBean(DefaultKafkaProducerFactoryCustomizer.class,
					() -> (factory) -> factory.updateConfigs(
							Map.of(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, List.of(ContextInterceptor.class))))
			.run((context) -> assertThat(interceptors(context)).isEqualTo(List.of(ContextInterceptor.class)));
	}

	@Test
	void propertySwitchesItOff() {
		this.lanes.withPropertyValues("kafka-queue.propagation.enabled=false")
			.run((context) -> assertThat(interceptors(context)).isNull());
		this.lanes.withPropertyValues("kafka-queue.enabled=false")
			.run((context) -> assertThat(interceptors(context)).isNull());
	}

	@Test
	void withoutBootsKafkaSupportItBacksOff() {
		this.lanes.withClassLoader(new FilteredClassLoader(DefaultKafkaProducerFactoryCustomizer.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(QueueProducerAutoConfiguration.class));
	}

	private static @Nullable Object interceptors(ApplicationContext context) {
		return context.getBean(ProducerFactory.class)
			.getConfigurationProperties()
			.get(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG);
	}

}
