package io.queuestarter.benchmarks.compare;

import java.io.IOException;
import java.util.Map;

import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * A broker in a process of its own, so that what it spends is not counted. It ends when
 * its standard input does, that is with the process that started it at the latest.
 */
public final class Broker {

	static final String READY = "broker at ";

	private Broker() {
	}

	/**
	 * Starts the broker and prints its address.
	 * @param args not used
	 * @throws IOException if the standard streams fail
	 */
	public static void main(String[] args) throws IOException {
		System.setProperty("logging.config", "classpath:logback.xml");
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		broker.brokerProperties(Map.of("group.share.partition.max.record.locks", "10000",
				"group.share.delivery.count.limit", Integer.toString(Handlers.ATTEMPTS),
				"share.coordinator.state.topic.replication.factor", "1", "share.coordinator.state.topic.min.isr", "1",
				"share.coordinator.state.topic.num.partitions", "1", "group.initial.rebalance.delay.ms", "0",
				"log.segment.delete.delay.ms", "0", "log.message.timestamp.type", "CreateTime"));
		broker.afterPropertiesSet();
		System.out.println(READY + broker.getBrokersAsString());
		while (System.in.read() >= 0) {
			// Nobody says anything.
		}
		broker.destroy();
		System.exit(0);
	}

}
