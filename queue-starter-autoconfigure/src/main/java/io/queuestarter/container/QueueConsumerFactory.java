package io.queuestarter.container;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.util.StringUtils;

import io.queuestarter.handler.PartDecoder;
import io.queuestarter.handler.RecordDecoder;

/**
 * Creates the consumers of one queue with the application's consumer factory, and puts a
 * gate in front of each. The consumers fetch bytes; the application's deserializers
 * decode on the workers, so that a record that does not decode stops nothing and its
 * bytes are at hand for the dead letter.
 */
final class QueueConsumerFactory implements ConsumerFactory<byte[], byte[]> {

	private static final Pattern ILLEGAL = Pattern.compile("[^a-zA-Z0-9._-]");

	private final ConsumerFactory<?, ?> application;

	private final ConsumerFactory<byte[], byte[]> bytes;

	private final Queue queue;

	@SuppressWarnings("unchecked")
	QueueConsumerFactory(ConsumerFactory<?, ?> application, Queue queue) {
		this.application = application;
		this.queue = queue;
		this.bytes = hasInstances(application) ? copy((ConsumerFactory<byte[], byte[]>) application)
				: (ConsumerFactory<byte[], byte[]>) application;
	}

	private static boolean hasInstances(ConsumerFactory<?, ?> factory) {
		return factory.getKeyDeserializer() != null || factory.getValueDeserializer() != null;
	}

	/**
	 * Deserializer instances of a factory beat properties, so they need another factory.
	 */
	private static ConsumerFactory<byte[], byte[]> copy(ConsumerFactory<byte[], byte[]> factory) {
		DefaultKafkaConsumerFactory<byte[], byte[]> copy = new DefaultKafkaConsumerFactory<>(
				factory.getConfigurationProperties());
		factory.getListeners().forEach(copy::addListener);
		factory.getPostProcessors().forEach(copy::addPostProcessor);
		return copy;
	}

	@Override
	public Consumer<byte[], byte[]> createConsumer(@Nullable String groupId, @Nullable String clientIdPrefix,
			@Nullable String clientIdSuffix) {
		return createConsumer(groupId, clientIdPrefix, clientIdSuffix, null);
	}

	@Override
	public Consumer<byte[], byte[]> createConsumer(@Nullable String groupId, @Nullable String clientIdPrefix,
			@Nullable String clientIdSuffix, @Nullable Properties listenerProperties) {
		Properties properties = new Properties();
		if (listenerProperties != null) {
			listenerProperties.stringPropertyNames()
				.forEach((name) -> properties.setProperty(name, listenerProperties.getProperty(name)));
		}
		Settings settings = new Settings(this.application.getConfigurationProperties(), properties);
		properties.setProperty(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
		properties.setProperty(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
		properties.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
		if (settings.get(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG) == null) {
			properties.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
		}
		if (settings.get(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG) == null
				&& !"consumer".equalsIgnoreCase(String.valueOf(settings.get(ConsumerConfig.GROUP_PROTOCOL_CONFIG)))) {
			properties.setProperty(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
					CooperativeStickyAssignor.class.getName());
		}
		String zone = this.queue.settings().lanes().zone().own();
		if (zone != null && settings.get(ConsumerConfig.CLIENT_RACK_CONFIG) == null) {
			properties.setProperty(ConsumerConfig.CLIENT_RACK_CONFIG, zone);
		}
		String instanceId = instanceId(settings, clientIdSuffix);
		if (instanceId == null) {
			return this.queue.gate(this.bytes.createConsumer(groupId, clientIdPrefix, clientIdSuffix, properties));
		}
		properties.setProperty(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, instanceId);
		return this.queue.gate(new StaticMember(this.queue.staticMembers(), instanceId,
				() -> this.bytes.createConsumer(groupId, clientIdPrefix, clientIdSuffix, properties))
			.proxy());
	}

	/**
	 * Static id of one consumer, or null if it has none. Queues may share a group, so the
	 * queue's id goes into it, ahead of the number that the container appends.
	 */
	private @Nullable String instanceId(Settings settings, @Nullable String suffix) {
		Object configured = settings.get(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
		if (configured == null || !StringUtils.hasText(configured.toString())) {
			return null;
		}
		String number = (suffix != null) ? suffix : "";
		String base = configured.toString();
		if (base.endsWith(number)) {
			base = base.substring(0, base.length() - number.length());
		}
		return base + "-" + legal(this.queue.id()) + number;
	}

	/** Kafka takes the same characters in static ids as in names of topics. */
	private static String legal(String id) {
		return ILLEGAL.matcher(id).replaceAll((match) -> "_" + Integer.toHexString(match.group().codePointAt(0)));
	}

	/** Makes the decoder of the queue's records. */
	RecordDecoder decoder(@Nullable Properties listenerProperties) {
		Settings settings = new Settings(this.application.getConfigurationProperties(),
				(listenerProperties != null) ? listenerProperties : new Properties());
		return new RecordDecoder(
				decoder("key", this.application.getKeyDeserializer(),
						settings.get(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG), settings),
				decoder("value", this.application.getValueDeserializer(),
						settings.get(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG), settings));
	}

	private static PartDecoder decoder(String part, @Nullable Deserializer<?> instance, @Nullable Object configured,
			Settings settings) {
		if (instance != null) {
			// As the application's factory does before it creates a consumer.
			instance.configure(settings.all(), part.equals("key"));
			return PartDecoder.single(part, instance);
		}
		if (configured instanceof Deserializer<?> deserializer) {
			return PartDecoder.single(part, deserializer);
		}
		if (configured == null) {
			throw new IllegalStateException("'" + part + ".deserializer' must be set");
		}
		Supplier<Deserializer<?>> supplier = () -> {
			Deserializer<?> deserializer = newInstance(part, configured);
			deserializer.configure(settings.all(), part.equals("key"));
			return deserializer;
		};
		return PartDecoder.pooled(part, supplier);
	}

	private static Deserializer<?> newInstance(String part, Object configured) {
		try {
			Object created = (configured instanceof Class<?> type) ? Utils.newInstance(type)
					: Utils.newInstance(configured.toString(), Deserializer.class);
			return (Deserializer<?>) created;
		}
		catch (ClassNotFoundException | ClassCastException ex) {
			throw new IllegalStateException("'" + part + ".deserializer' is not a deserializer: " + configured, ex);
		}
	}

	@Override
	public boolean isAutoCommit() {
		return false;
	}

	@Override
	public Map<String, Object> getConfigurationProperties() {
		return this.application.getConfigurationProperties();
	}

	/** Consumer properties: those of the listener before those of the application. */
	private record Settings(Map<String, Object> application, Properties listener) {

		@Nullable Object get(String name) {
			String own = this.listener.getProperty(name);
			return (own != null) ? own : this.application.get(name);
		}

		Map<String, Object> all() {
			Map<String, Object> all = new HashMap<>(this.application);
			this.listener.stringPropertyNames().forEach((name) -> all.put(name, this.listener.getProperty(name)));
			return all;
		}

	}

}
