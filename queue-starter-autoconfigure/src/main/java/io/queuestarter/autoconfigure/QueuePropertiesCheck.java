package io.queuestarter.autoconfigure;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.browse.Spelling;
import io.queuestarter.container.QueueDefinitions;

/**
 * Refuses settings under {@code kafka-queue.listeners} for queues that do not exist, and
 * tells which settings of plain listeners queues do not heed.
 */
final class QueuePropertiesCheck implements SmartInitializingSingleton {

	private static final Logger LOGGER = LoggerFactory.getLogger(QueuePropertiesCheck.class);

	private final QueueDefinitions definitions;

	private final KafkaQueueProperties properties;

	private final Environment environment;

	private final boolean errorHandlers;

	/**
	 * Creates a check.
	 * @param definitions the queues found
	 * @param properties the queues configured
	 * @param environment where plain listeners are configured
	 * @param errorHandlers whether there are error handlers of plain listeners
	 */
	QueuePropertiesCheck(QueueDefinitions definitions, KafkaQueueProperties properties, Environment environment,
			boolean errorHandlers) {
		this.definitions = definitions;
		this.properties = properties;
		this.environment = environment;
		this.errorHandlers = errorHandlers;
	}

	@Override
	public void afterSingletonsInstantiated() {
		refuseUnknown();
		if (!this.definitions.ids().isEmpty()) {
			tellUnheeded();
		}
	}

	private void tellUnheeded() {
		Map<String, Object> listener = Binder.get(this.environment)
			.bind("spring.kafka.listener", Bindable.mapOf(String.class, Object.class))
			.orElse(Map.of());
		if (!listener.isEmpty()) {
			LOGGER.info("Queues do not heed spring.kafka.listener.{}; plain @KafkaListener methods do",
					new TreeSet<>(listener.keySet()));
		}
		if (this.errorHandlers) {
			LOGGER.info("Queues do not call CommonErrorHandler beans; their retry and dlq settings say what happens to "
					+ "failed records");
		}
	}

	private void refuseUnknown() {
		Map<String, QueueProperties> configured = this.properties.listeners();
		if (configured == null) {
			return;
		}
		Set<String> known = new TreeSet<>(this.definitions.ids());
		for (String id : configured.keySet()) {
			if (!known.contains(id)) {
				throw new QueueConfigurationException(
						"kafka-queue.listeners." + id + " configures queue '" + id + "', but there is none.",
						"Known ids: " + known + "." + Spelling.suggestion(id, known)
								+ " An id with other characters than letters, digits and '-' stands in brackets: "
								+ "\"[orders.v1]\".");
			}
		}
	}

}
