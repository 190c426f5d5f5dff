package io.queuestarter.benchmarks.compare;

import java.util.Map;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.kafka.annotation.KafkaListener;

/**
 * A plain listener of Spring Kafka, with its defaults.
 */
final class ListenerArm implements Arm {

	@Override
	public Running start(Scenario scenario, Records records, Probe probe) {
		return Application.start(App.class, records, probe, Map.of());
	}

	@EnableAutoConfiguration
	static class App {

		private final Probe probe;

		App(Probe probe) {
			this.probe = probe;
		}

		@KafkaListener(topics = "${compared.topic}", groupId = "${compared.group}")
		void handle(byte[] value) throws InterruptedException {
			this.probe.handle(value);
		}

	}

}
