package io.queuestarter.autoconfigure;

import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of all queues. Unknown keys fail start-up.
 *
 * @param enabled Whether methods annotated with QueueListener are served.
 * @param defaults Settings of queues that neither say otherwise in their annotation nor
 * under 'kafka-queue.listeners'.
 * @param listeners Settings by queue id; they beat annotation and defaults. An id with
 * other characters than letters, digits and '-' stands in brackets: "[orders.v1]".
 */
@ConfigurationProperties(prefix = "kafka-queue", ignoreUnknownFields = false)
public record KafkaQueueProperties(@DefaultValue("true") boolean enabled,
		@NestedConfigurationProperty @Nullable QueueProperties defaults,
		@Nullable Map<String, QueueProperties> listeners) {

	@Nullable QueueProperties listener(String id) {
		return (this.listeners != null) ? this.listeners.get(id) : null;
	}

}
