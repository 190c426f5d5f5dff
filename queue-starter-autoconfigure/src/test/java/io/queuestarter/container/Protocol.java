package io.queuestarter.container;

import java.time.Duration;

import org.apache.kafka.clients.consumer.ConsumerConfig;

/**
 * How a group agrees on who owns what.
 */
enum Protocol {

	EAGER("spring.kafka.consumer.properties." + ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG
			+ "=org.apache.kafka.clients.consumer.RangeAssignor"),

	COOPERATIVE("spring.kafka.consumer.properties." + ConsumerConfig.GROUP_PROTOCOL_CONFIG + "=classic"),

	CONSUMER("spring.kafka.consumer.properties." + ConsumerConfig.GROUP_PROTOCOL_CONFIG + "=consumer");

	private final String setting;

	Protocol(String setting) {
		this.setting = setting;
	}

	/**
	 * How long the group waits for a silent member; the broker says so of its protocol.
	 */
	String sessionTimeout(Duration timeout) {
		return (this == CONSUMER) ? this.setting : "spring.kafka.consumer.properties."
				+ ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG + "=" + timeout.toMillis();
	}

	String[] settings(String... more) {
		String[] settings = new String[more.length + 2];
		settings[0] = this.setting;
		// The classic protocol tells members of a rebalance by their heartbeat.
		settings[1] = (this == CONSUMER) ? "spring.kafka.consumer.fetch-max-wait=100ms"
				: "spring.kafka.consumer.heartbeat-interval=100ms";
		System.arraycopy(more, 0, settings, 2, more.length);
		return settings;
	}

}
