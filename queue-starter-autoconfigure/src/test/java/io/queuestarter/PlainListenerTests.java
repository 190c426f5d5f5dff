package io.queuestarter;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.util.backoff.FixedBackOff;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Queues live in applications that have listeners already. Neither side may change what
 * the other one does.
 */
class PlainListenerTests {

	@Test
	void C3_settingsOfPlainListenersStayTheirsAndQueuesDoNotHeedThem() {
		String topic = Broker.newTopic("both", 1);

		try (QueueApp app = QueueApp.of(Both.class)
			.with("topic", topic)
			.with("spring.kafka.listener.ack-mode", "record")
			.with("spring.kafka.listener.type", "single")
			.with("spring.kafka.consumer.max-poll-records", "1")
			.with("spring.kafka.consumer.auto-offset-reset", "earliest")
			.start()) {
			Broker.sendNumbers(topic, 1, 20);
			Both both = app.bean(Both.class);
			QueueApp.eventually().until(() -> both.plain.size() == 20 && both.queued.size() == 22);
			QueueApp.eventually().until(() -> Broker.committedOffset("queued", topic, 0) == 20);
			QueueApp.eventually().until(() -> Broker.committedOffset("plain", topic, 0) == 20);

			KafkaListenerEndpointRegistry registry = app.bean(KafkaListenerEndpointRegistry.class);
			assertThat(properties(registry, "plain").getContainerProperties().getAckMode()).isEqualTo(AckMode.RECORD);
			assertThat(properties(registry, "queued").getContainerProperties().getAckMode()).isEqualTo(AckMode.MANUAL);
			assertThat(app.bean(CountingErrorHandler.class).calls).hasValue(0);
			assertThat(Broker.records(topic + "-dlq")).hasSize(1);
		}
	}

	@Test
	void C2_listenerOnAProxiedInterfaceIsRegisteredOnce() {
		String topic = Broker.newTopic("proxied", 1);
		Broker.sendNumbers(topic, 1, 5);

		try (QueueApp app = QueueApp.of(ProxiedBilling.class, Proxying.class).with("topic", topic).start()) {
			Billing bean = app.bean(Billing.class);
			QueueApp.eventually().until(() -> Broker.committedOffset("proxied", topic, 0) == 5);

			assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
			assertThat(bean.charged()).hasSize(5).doesNotHaveDuplicates();
			assertThat(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainerIds())
				.containsExactly("proxied");
		}
	}

	@Test
	void consumersOfQueuesAreCooperativeAndReadFromTheEarliestRecordUnlessToldOtherwise() {
		String topic = Broker.newTopic("defaults", 1);

		Broker.send(topic, null, "sent before the group existed");

		try (QueueApp app = QueueApp.of(Quiet.class).with("topic", topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedOffset("quiet", topic, 0) == 1);

			assertThat(Broker.await(Broker.admin().describeConsumerGroups(List.of("quiet")).all()).get("quiet"))
				.extracting(ConsumerGroupDescription::partitionAssignor)
				.isEqualTo("cooperative-sticky");
			assertThat(app.bean(ConsumerFactory.class).getConfigurationProperties()).doesNotContainKeys(
					ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG);
		}
	}

	private static MessageListenerContainer properties(KafkaListenerEndpointRegistry registry, String id) {
		MessageListenerContainer container = registry.getListenerContainer(id);
		assertThat(container).isNotNull();
		return container;
	}

	static class Both {

		final List<String> plain = new CopyOnWriteArrayList<>();

		final List<String> queued = new CopyOnWriteArrayList<>();

		@KafkaListener(id = "plain", topics = "${topic}", groupId = "plain",
				containerFactory = "kafkaListenerContainerFactory")
		void plain(String value) {
			this.plain.add(value);
		}

		@QueueListener(id = "queued", topics = "${topic}", groupId = "queued")
		void queued(String value) {
			this.queued.add(value);
			if (value.equals("7")) {
				throw new IllegalStateException("seven");
			}
		}

		@Bean
		static CountingErrorHandler errorHandler() {
			return new CountingErrorHandler(new AtomicInteger());
		}

		@Bean
		@Primary
		static ConcurrentKafkaListenerContainerFactory<Object, Object> primaryFactory(
				ConsumerFactory<Object, Object> consumers) {
			ConcurrentKafkaListenerContainerFactory<Object, Object> factory = new ConcurrentKafkaListenerContainerFactory<>();
			factory.setConsumerFactory(consumers);
			return factory;
		}

	}

	static class CountingErrorHandler extends DefaultErrorHandler {

		final AtomicInteger calls;

		CountingErrorHandler(AtomicInteger calls) {
			super((record, error) -> calls.incrementAndGet(), new FixedBackOff(0, 0));
			this.calls = calls;
		}

	}

	interface Billing {

		void charge(String trip);

		List<String> charged();

	}

	static class ProxiedBilling implements Billing {

		private final List<String> charged = new CopyOnWriteArrayList<>();

		@Override
		@QueueListener(id = "proxied", topics = "${topic}", groupId = "proxied")
		public void charge(String trip) {
			this.charged.add(trip);
		}

		@Override
		public List<String> charged() {
			return this.charged;
		}

	}

	static class Proxying implements BeanPostProcessor {

		@Override
		public Object postProcessBeforeInitialization(Object bean, String name) {
			if (!(bean instanceof ProxiedBilling)) {
				return bean;
			}
			ProxyFactory proxy = new ProxyFactory(bean);
			proxy.setInterfaces(Billing.class);
			return proxy.getProxy();
		}

	}

	static class Quiet {

		@QueueListener(id = "quiet", topics = "${topic}", groupId = "quiet")
		void handle(String value) {
		}

	}

}
