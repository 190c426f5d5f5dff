package io.queuestarter.sample;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * A broker in this process, unless the profile {@code kafka} names a cluster.
 */
@Configuration(proxyBeanMethods = false)
@Profile("!kafka")
class EmbeddedBroker {

	@Bean
	EmbeddedKafkaBroker broker() {
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		broker.brokerProperties(Map.of("auto.create.topics.enable", "false", "group.initial.rebalance.delay.ms", "0",
				"offsets.topic.num.partitions", "1"));
		startQuietly(broker);
		return broker;
	}

	/** Formatting its directory, the broker writes to the console past every log. */
	private static void startQuietly(EmbeddedKafkaBroker broker) {
		PrintStream console = System.out;
		System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
		try {
			broker.afterPropertiesSet();
		}
		finally {
			System.setOut(console);
		}
	}

	@Bean
	KafkaConnectionDetails kafkaConnectionDetails(EmbeddedKafkaBroker broker) {
		return () -> List.of(broker.getBrokersAsString());
	}

}
