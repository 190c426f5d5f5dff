package io.queuestarter.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an editor shows when somebody types a key.
 */
class PropertiesMetadataTests {

	@Test
	void everyKeyHasADescription() throws IOException {
		List<Map<String, Object>> properties = properties();

		assertThat(properties).hasSizeGreaterThan(20)
			.allSatisfy((property) -> assertThat((String) property.get("description"))
				.describedAs("%s", property.get("name"))
				.isNotBlank()
				.endsWith("."));
	}

	@Test
	void everyKeyOfADefaultIsResolvedForEachQueue() throws IOException {
		List<String> names = properties().stream()
			.map((property) -> (String) property.get("name"))
			.filter((name) -> name.startsWith("kafka-queue.defaults."))
			.map((name) -> name.substring("kafka-queue.defaults.".length()))
			.toList();

		assertThat(names).contains("group", "ordering", "dispatch.max-in-flight", "buffer.partition.max-size",
				"retry.local.max-attempts", "shutdown.drain-timeout");
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> properties() throws IOException {
		try (InputStream metadata = KafkaQueueProperties.class
			.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
			Map<String, Object> all = JsonMapper.shared().readValue(Objects.requireNonNull(metadata), Map.class);
			return (List<Map<String, Object>>) Objects.requireNonNull(all.get("properties"));
		}
	}

}
