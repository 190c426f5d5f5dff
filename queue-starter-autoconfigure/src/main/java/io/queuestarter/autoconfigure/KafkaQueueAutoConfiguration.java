package io.queuestarter.autoconfigure;

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.BeanExpressionResolver;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListenerAnnotationBeanPostProcessor;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.support.converter.RecordMessageConverter;

import io.queuestarter.QueueCircuitKey;
import io.queuestarter.QueueConfigurationException;
import io.queuestarter.QueueListener;
import io.queuestarter.browse.DeadLetterBrowser;
import io.queuestarter.container.QueueDefinitions;
import io.queuestarter.container.QueueListenerContainerFactory;
import io.queuestarter.container.QueueRuntime;
import io.queuestarter.container.QueueSettingsSource;
import io.queuestarter.container.Queues;
import io.queuestarter.deadletter.AdminDeadLetterTopics;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.handler.AttemptObserver;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobListener;
import io.queuestarter.jobs.ResolvedKeeper;
import io.queuestarter.observe.DeadLetterWatch;
import io.queuestarter.observe.Doctor;

/**
 * Auto-configuration of queues: methods annotated with {@link QueueListener}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(afterName = "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration")
@ConditionalOnClass(EnableKafka.class)
@ConditionalOnBooleanProperty(name = "kafka-queue.enabled", matchIfMissing = true)
@EnableConfigurationProperties(KafkaQueueProperties.class)
public final class KafkaQueueAutoConfiguration {

	KafkaQueueAutoConfiguration() {
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean
	static QueueDefinitions queueDefinitions(ConfigurableListableBeanFactory beanFactory) {
		return new QueueDefinitions(resolver(beanFactory));
	}

	@Bean
	@ConditionalOnMissingBean
	Queues queues() {
		return new Queues();
	}

	@Bean
	@ConditionalOnMissingBean
	QueueSettingsSource queueSettingsSource(KafkaQueueProperties properties, Environment environment,
			ConfigurableListableBeanFactory beanFactory) {
		return new QueueSettingsResolver(properties, environment, resolver(beanFactory),
				beanFactory.getBeanClassLoader());
	}

	@Bean
	@ConditionalOnMissingBean
	QueueRuntime queueRuntime(ObjectProvider<ConsumerFactory<?, ?>> consumerFactories,
			ObjectProvider<ProducerFactory<?, ?>> producerFactories, ObjectProvider<CircuitBreakerRegistry> breakers,
			ObjectProvider<QueueCircuitKey> circuitKeys) {
		Map<String, Object> connection = unique(consumerFactories).getConfigurationProperties();
		Map<String, Object> admin = new HashMap<>(connection);
		admin.keySet().retainAll(AdminClientConfig.configNames());
		ProducerFactory<?, ?> producers = producerFactories.getIfUnique();
		return new QueueRuntime(TimeSource.SYSTEM, connection,
				(producers != null) ? producers.getConfigurationProperties() : Map.of(),
				(settings) -> new AdminDeadLetterTopics(admin, settings.deadLetters().create()),
				breakers.getIfUnique(CircuitBreakerRegistry::ofDefaults), circuitKeys.getIfUnique());
	}

	@Bean(QueueListener.CONTAINER_FACTORY)
	@ConditionalOnMissingBean(name = QueueListener.CONTAINER_FACTORY)
	QueueListenerContainerFactory queueListenerContainerFactory(ObjectProvider<ConsumerFactory<?, ?>> consumerFactories,
			QueueDefinitions definitions, QueueSettingsSource settings, QueueRuntime runtime, Queues queues,
			KafkaListenerAnnotationBeanPostProcessor<?, ?> listeners, ObjectProvider<RecordMessageConverter> converters,
			KafkaQueueProperties properties, ObjectProvider<AttemptObserver> observers) {
		QueueListenerContainerFactory factory = new QueueListenerContainerFactory(unique(consumerFactories),
				definitions, settings, runtime, queues, listeners.getMessageHandlerMethodFactory());
		converters.ifUnique(factory::setRecordMessageConverter);
		factory.setMdc(properties.mdc().enabled());
		observers.ifUnique(factory::setAttemptObserver);
		return factory;
	}

	@Bean
	@ConditionalOnMissingBean
	DeadLetterJobs queueDeadLetterJobs(QueueRuntime runtime, KafkaQueueProperties properties,
			ObjectProvider<JobListener> listeners) {
		return new DeadLetterJobs(runtime.jobClients(), ManagementFactory.getRuntimeMXBean().getName(),
				properties.dlq().validMaxMerges(), listeners.orderedStream().toList());
	}

	@Bean(initMethod = "start")
	@ConditionalOnMissingBean
	Doctor queueDoctor(Queues queues, QueueRuntime runtime, KafkaQueueProperties properties) {
		return new Doctor(queues, runtime.logWatch(), properties.doctor().settings());
	}

	@Bean
	@ConditionalOnMissingBean
	DeadLetterBrowser queueDeadLetterBrowser(QueueRuntime runtime, KafkaQueueProperties properties) {
		return runtime.browser(properties.dlq().search().settings());
	}

	@Bean(initMethod = "start")
	@ConditionalOnMissingBean
	DeadLetterWatch queueDeadLetterWatch(Queues queues, DeadLetterBrowser browser, KafkaQueueProperties properties,
			QueueRuntime runtime) {
		return new DeadLetterWatch(queues, browser,
				new ResolvedKeeper(runtime.jobClients(), ManagementFactory.getRuntimeMXBean().getName()),
				properties.metrics().validDlqDepthInterval());
	}

	@Bean
	QueuePropertiesCheck queuePropertiesCheck(QueueDefinitions definitions, KafkaQueueProperties properties,
			Environment environment, ObjectProvider<CommonErrorHandler> errorHandlers) {
		return new QueuePropertiesCheck(definitions, properties, environment,
				errorHandlers.stream().findAny().isPresent());
	}

	private static ConsumerFactory<?, ?> unique(ObjectProvider<ConsumerFactory<?, ?>> factories) {
		ConsumerFactory<?, ?> factory = factories.getIfUnique();
		if (factory == null) {
			throw new QueueConfigurationException(
					"There is no ConsumerFactory bean, or several of which none is @Primary, so queues have no consumer.",
					"Define one, or mark one @Primary.");
		}
		return factory;
	}

	private static UnaryOperator<String> resolver(ConfigurableListableBeanFactory beanFactory) {
		return (text) -> {
			String embedded = beanFactory.resolveEmbeddedValue(text);
			BeanExpressionResolver expressions = beanFactory.getBeanExpressionResolver();
			if (embedded == null || expressions == null) {
				return (embedded != null) ? embedded : "";
			}
			Object value = expressions.evaluate(embedded, new BeanExpressionContext(beanFactory, null));
			return (value != null) ? value.toString() : "";
		};
	}

}
