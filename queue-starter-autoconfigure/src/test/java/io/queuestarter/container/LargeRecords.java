package io.queuestarter.container;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.queuestarter.QueueListener;
import io.queuestarter.testkit.Broker;

/**
 * An application in a JVM of its own with a small heap, whose handlers block until
 * nothing more is admitted, and then take everything. Exits with 0 when all is handled
 * and the bytes held never exceeded the bound.
 */
public final class LargeRecords {

	/** The default, and a record more for each of the partitions. */
	private static final long BOUND_BYTES = 10L * 1024 * 1024 + 61 * 900_000L;

	private LargeRecords() {
	}

	static Process start(String topic, int count) throws IOException {
		return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
				"-XX:+ExitOnOutOfMemoryError", "-cp", System.getProperty("java.class.path"),
				LargeRecords.class.getName(), Broker.bootstrap(), topic, Integer.toString(count))
			.redirectErrorStream(true)
			.redirectOutput(new File("target/surefire-reports", LargeRecords.class.getName() + "-output.txt"))
			.start();
	}

	public static void main(String[] args) throws InterruptedException {
		int count = Integer.parseInt(args[2]);
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(App.class)
			.web(WebApplicationType.NONE)
			.properties(Map.of("spring.kafka.bootstrap-servers", args[0], "topic", args[1],
					"spring.kafka.consumer.value-deserializer",
					"org.apache.kafka.common.serialization.ByteArrayDeserializer",
					"kafka-queue.defaults.timeout.initial", "10m"))
			.run()) {
			Queue queue = context.getBean(Queues.class).find("large").orElseThrow();
			App app = context.getBean(App.class);
			long largest = awaitSteady(queue);
			app.hold.countDown();
			while (app.handled.get() < count) {
				largest = Math.max(largest, queue.bufferedBytes());
				app.more.await(10, TimeUnit.MILLISECONDS);
			}
			System.out.println("Handled " + count + " records, held up to " + largest + " bytes");
			if (largest > BOUND_BYTES || largest == 0) {
				throw new IllegalStateException("Held " + largest + " bytes, more than " + BOUND_BYTES);
			}
		}
	}

	/** Waits until the bytes held do not change for two seconds. */
	private static long awaitSteady(Queue queue) throws InterruptedException {
		CountDownLatch never = new CountDownLatch(1);
		long bytes = -1;
		int same = 0;
		while (same < 20) {
			long now = queue.bufferedBytes();
			same = (now == bytes && now > 0) ? same + 1 : 0;
			bytes = now;
			never.await(100, TimeUnit.MILLISECONDS);
		}
		return bytes;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class App {

		final CountDownLatch hold = new CountDownLatch(1);

		final CountDownLatch more = new CountDownLatch(1);

		final AtomicInteger handled = new AtomicInteger();

		@QueueListener(id = "large", topics = "${topic}", groupId = "${topic}", dlq = "none")
		void handle(ConsumerRecord<String, byte[]> record) throws InterruptedException {
			this.hold.await();
			this.handled.incrementAndGet();
		}

	}

}
