package io.queuestarter.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

import io.queuestarter.QueueListener;
import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;

/**
 * How much of the possible rate a queue reaches: records of one partition, handlers that
 * wait, through {@code @QueueListener} on an embedded broker. Possible is the number in
 * flight divided by the mean time of a handler; the rate counts from the first handler's
 * start to the last one's end. The first round warms up; the median of the others counts.
 * Records that always fail are given up soon when no others are left, to end the round.
 */
public final class QueueLoad {

	private static final int ROUNDS = 4;

	private QueueLoad() {
	}

	/**
	 * Runs all scenarios and prints a table.
	 * @param args names of the scenarios to run; none runs all
	 */
	public static void main(String[] args) {
		System.setProperty("logging.config", "classpath:logback.xml");
		List<Scenario> scenarios = List.of(
				new Scenario("uniform", 50_000, Duration.ofMillis(10), 0, Duration.ZERO, 0, 1000, 10_000),
				new Scenario("stragglers", 200_000, Duration.ofMillis(10), 1000, Duration.ofSeconds(2), 0, 200, 50_000),
				new Scenario("sound", 100_000, Duration.ofMillis(10), 0, Duration.ZERO, 0, 200, 10_000),
				new Scenario("failing", 100_000, Duration.ofMillis(10), 0, Duration.ZERO, 10, 200, 10_000));
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		broker.afterPropertiesSet();
		System.out.printf("Java %s, %d processors%n", System.getProperty("java.version"),
				Runtime.getRuntime().availableProcessors());
		System.out.printf("%-12s %10s %10s %8s %14s%n", "scenario", "rate/s", "possible", "share", "first record");
		for (Scenario scenario : scenarios) {
			if (args.length == 0 || List.of(args).contains(scenario.name())) {
				run(scenario, broker.getBrokersAsString());
			}
		}
		broker.destroy();
		System.exit(0);
	}

	private static void run(Scenario scenario, String bootstrap) {
		List<Result> results = new ArrayList<>();
		for (int round = 0; round < ROUNDS; round++) {
			Result result = round(scenario, bootstrap, scenario.name() + "-" + round);
			if (round > 0) {
				results.add(result);
			}
		}
		Collections.sort(results, (left, right) -> Double.compare(left.rate(), right.rate()));
		Result median = results.get(results.size() / 2);
		System.out.printf("%-12s %,10.0f %,10.0f %8.2f %11d ms%n", scenario.name(), median.rate(), scenario.possible(),
				median.rate() / scenario.possible(), median.firstRecordMillis());
	}

	private static Result round(Scenario scenario, String bootstrap, String topic) {
		produce(scenario, bootstrap, topic);
		long start = System.nanoTime();
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Load.class)
			.web(WebApplicationType.NONE)
			.properties(Map.of("spring.kafka.bootstrap-servers", bootstrap, "spring.main.banner-mode", "off",
					"load.topic", topic, "load.limit", scenario.inFlight(), "kafka-queue.defaults.ledger.capacity",
					scenario.window(), "kafka-queue.defaults.dlq.budget.patience", "1s"))
			.initializers((created) -> created.getBeanFactory().registerSingleton("scenario", scenario))
			.run()) {
			Load load = context.getBean(Load.class);
			Queue queue = context.getBean(Queues.class).find("load").orElseThrow();
			while (load.done.get() < scenario.healthy()
					|| queue.partitions().stream().mapToLong((partition) -> partition.committed()).sum() < scenario
						.records()) {
				LockSupport.parkNanos(1_000_000);
			}
			double seconds = (load.ninthTenth.get() - load.firstTenth.get()) / 1e9;
			return new Result(0.8 * scenario.healthy() / seconds, (load.first.get() - start) / 1_000_000);
		}
	}

	private static void produce(Scenario scenario, String bootstrap, String topic) {
		try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap));
				KafkaProducer<String, String> producer = new KafkaProducer<>(
						Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap), new StringSerializer(),
						new StringSerializer())) {
			admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
				.all()
				.toCompletionStage()
				.toCompletableFuture()
				.join();
			List<Exception> failures = Collections.synchronizedList(new ArrayList<>());
			for (int i = 0; i < scenario.records(); i++) {
				producer.send(new ProducerRecord<>(topic, Integer.toString(i) + "x".repeat(90)), (metadata, error) -> {
					if (error != null) {
						failures.add(error);
					}
				});
			}
			producer.flush();
			if (!failures.isEmpty()) {
				throw new IllegalStateException(failures.get(0));
			}
		}
	}

	/**
	 * What is run.
	 *
	 * @param name name of the scenario
	 * @param records number of records
	 * @param handler time of an ordinary handler
	 * @param slowEvery one in how many records is slow, 0 for none
	 * @param slow time of a slow handler
	 * @param failEvery one in how many records fails in each attempt, 0 for none; the
	 * rate is that of the others
	 * @param inFlight number of records in flight
	 * @param window ledger capacity: at least what is handled while a slow handler runs
	 */
	record Scenario(String name, int records, Duration handler, int slowEvery, Duration slow, int failEvery,
			int inFlight, int window) {

		int healthy() {
			return (this.failEvery > 0) ? this.records - this.records / this.failEvery : this.records;
		}

		boolean fails(String value) {
			return this.failEvery > 0
					&& Integer.parseInt(value.substring(0, value.indexOf('x'))) % this.failEvery == this.failEvery / 2;
		}

		double possible() {
			double mean = this.handler.toNanos() / 1e9;
			if (this.slowEvery > 0) {
				mean += (this.slow.toNanos() - this.handler.toNanos()) / 1e9 / this.slowEvery;
			}
			return this.inFlight / mean * healthy() / this.records;
		}

		Duration timeOf(int number) {
			return (this.slowEvery > 0 && number % this.slowEvery == this.slowEvery / 2) ? this.slow : this.handler;
		}

	}

	record Result(double rate, long firstRecordMillis) {

	}

	@EnableAutoConfiguration
	static class Load {

		final AtomicInteger done = new AtomicInteger();

		final AtomicLong first = new AtomicLong();

		final AtomicLong firstTenth = new AtomicLong();

		final AtomicLong ninthTenth = new AtomicLong();

		private final AtomicInteger started = new AtomicInteger();

		private final Scenario scenario;

		Load(Scenario scenario) {
			this.scenario = scenario;
		}

		@QueueListener(id = "load", topics = "${load.topic}", groupId = "${load.topic}", maxInFlight = "${load.limit}")
		void handle(String value) throws InterruptedException {
			this.first.compareAndSet(0, System.nanoTime());
			Thread.sleep(this.scenario.timeOf(this.started.getAndIncrement()).toMillis());
			if (this.scenario.fails(value)) {
				throw new IllegalStateException("fails in each attempt");
			}
			int tenth = this.scenario.healthy() / 10;
			int ended = this.done.incrementAndGet();
			if (ended == tenth) {
				this.firstTenth.set(System.nanoTime());
			}
			else if (ended == 9 * tenth) {
				this.ninthTenth.set(System.nanoTime());
			}
		}

	}

}
