package io.queuestarter.benchmarks.compare;

import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

/**
 * A Spring Boot application with one listener.
 */
final class Application implements Arm.Running {

	private final ConfigurableApplicationContext context;

	private final Records records;

	private Application(ConfigurableApplicationContext context, Records records) {
		this.context = context;
		this.records = records;
	}

	static Application start(Class<?> source, Records records, Probe probe, Map<String, Object> settings) {
		Map<String, Object> properties = new HashMap<>(settings);
		properties.put("spring.main.banner-mode", "off");
		properties.put("spring.kafka.bootstrap-servers", records.configuration().get("bootstrap.servers"));
		properties.put("compared.topic", records.topic());
		properties.put("compared.group", records.group());
		return new Application(new SpringApplicationBuilder(source).web(WebApplicationType.NONE)
			.properties(properties)
			.initializers((created) -> {
				created.getBeanFactory().registerSingleton("probe", probe);
				created.getBeanFactory().registerSingleton("kafkaConsumerFactory", factory(records));
			})
			.run(), records);
	}

	/** Typed as Spring Boot looks for it. */
	private static ConsumerFactory<Object, Object> factory(Records records) {
		return new DefaultKafkaConsumerFactory<>(records.configuration()) {

			@Override
			@SuppressWarnings("unchecked")
			protected Consumer<Object, Object> createRawConsumer(Map<String, Object> configuration) {
				return (Consumer<Object, Object>) (Consumer<?, ?>) records.consumer(configuration,
						new ByteArrayDeserializer());
			}

		};
	}

	@Override
	public boolean isCommitted() {
		return this.records.isCommitted();
	}

	@Override
	public void close() {
		this.context.close();
	}

}
