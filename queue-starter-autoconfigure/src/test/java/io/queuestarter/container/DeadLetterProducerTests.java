package io.queuestarter.container;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class DeadLetterProducerTests {

	private static final long LEAST = 64 * 1024 * 1024;

	@Test
	void sizeOfARequestIsLeftToTheBroker() {
		assertThat(properties(Map.of())).containsEntry(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.MAX_VALUE);
		assertThat(properties(Map.of(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 1000)))
			.containsEntry(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.MAX_VALUE);
	}

	@Test
	void bufferHoldsALargeRecordWhateverTheApplicationsProducerHolds() {
		assertThat(buffer(Map.of())).isEqualTo(LEAST);
		assertThat(buffer(Map.of(ProducerConfig.BUFFER_MEMORY_CONFIG, 1_000_000))).isEqualTo(LEAST);
		assertThat(buffer(Map.of(ProducerConfig.BUFFER_MEMORY_CONFIG, "1000000"))).isEqualTo(LEAST);
	}

	@Test
	void largerBufferOfTheApplicationIsTakenOver() {
		assertThat(buffer(Map.of(ProducerConfig.BUFFER_MEMORY_CONFIG, "100000000"))).isEqualTo(100_000_000L);
	}

	@Test
	void bufferThatIsNoNumberIsRefused() {
		assertThatExceptionOfType(ConfigException.class)
			.isThrownBy(() -> properties(Map.of(ProducerConfig.BUFFER_MEMORY_CONFIG, "much")))
			.withMessageContaining("buffer.memory");
	}

	private static Object buffer(Map<String, Object> producer) {
		return Objects.requireNonNull(properties(producer).get(ProducerConfig.BUFFER_MEMORY_CONFIG));
	}

	private static Map<String, Object> properties(Map<String, Object> producer) {
		return QueueRuntime.deadLetterProducer(new HashMap<>(), producer);
	}

}
