package io.queuestarter.sample;

import java.util.Arrays;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * Demonstration of the starter on an embedded broker.
 */
@SpringBootApplication
public class SampleApplication {

	public static void main(String[] args) {
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1, "demo");
		broker.afterPropertiesSet();
		System.setProperty("spring.kafka.bootstrap-servers", broker.getBrokersAsString());
		System.out.println("Arguments: " + Arrays.toString(args));
		var context = SpringApplication.run(SampleApplication.class, args);
		if (context.getEnvironment().containsProperty("once")) {
			SpringApplication.exit(context);
			broker.destroy();
			System.exit(0);
		}
	}

}
