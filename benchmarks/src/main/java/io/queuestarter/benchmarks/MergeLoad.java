package io.queuestarter.benchmarks;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

import io.queuestarter.QueueListener;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.container.Queues;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobAction;
import io.queuestarter.jobs.JobRequest;
import io.queuestarter.jobs.JobTarget;
import io.queuestarter.jobs.JobView;

/**
 * How fast dead letters are merged to their source without a limit, beside a bare loop
 * that polls, sends asynchronously and flushes. Both read the same topic and write with
 * the same durability, in turn; the first round warms up and the median of the others
 * counts.
 */
public final class MergeLoad {

	private static final int LETTERS = 200_000;

	private static final int PARTITIONS = 4;

	private static final int ROUNDS = 4;

	private MergeLoad() {
	}

	/**
	 * Runs both arms and prints a table.
	 * @param args not used
	 */
	public static void main(String[] args) {
		System.setProperty("logging.config", "classpath:logback.xml");
		EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
		broker.afterPropertiesSet();
		String bootstrap = broker.getBrokersAsString();
		List<Double> bare = new ArrayList<>();
		List<Double> merged = new ArrayList<>();
		for (int round = 0; round < ROUNDS; round++) {
			String topic = "merge-" + round;
			deadLetter(bootstrap, topic);
			double bareRate = copy(bootstrap, topic);
			double mergeRate = merge(bootstrap, topic);
			if (round > 0) {
				bare.add(bareRate);
				merged.add(mergeRate);
			}
		}
		System.out.printf("Java %s, %d processors, %,d dead letters%n", System.getProperty("java.version"),
				Runtime.getRuntime().availableProcessors(), LETTERS);
		System.out.printf("bare copy loop   %,10.0f records/s%n", median(bare));
		System.out.printf("merge to source  %,10.0f records/s  %.2f of it%n", median(merged),
				median(merged) / median(bare));
		broker.destroy();
		System.exit(0);
	}

	private static double median(List<Double> rates) {
		Collections.sort(rates);
		return rates.get(rates.size() / 2);
	}

	private static Map<String, Object> producer(String bootstrap) {
		return Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap, ProducerConfig.ACKS_CONFIG, "all",
				ProducerConfig.LINGER_MS_CONFIG, 5);
	}

	private static void deadLetter(String bootstrap, String topic) {
		try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap));
				KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producer(bootstrap),
						new ByteArraySerializer(), new ByteArraySerializer())) {
			admin
				.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1),
						new NewTopic(topic + "-copy", PARTITIONS, (short) 1),
						new NewTopic(topic + "-dlq", PARTITIONS, (short) 1)))
				.all()
				.toCompletionStage()
				.toCompletableFuture()
				.join();
			// The first write of each partition alone: on new topics later ones may
			// overtake it.
			for (String name : List.of(topic, topic + "-copy", topic + "-dlq")) {
				for (int partition = 0; partition < PARTITIONS; partition++) {
					producer.send(new ProducerRecord<>(name, partition, null, null));
					producer.flush();
				}
			}
			byte[] value = "x".repeat(200).getBytes(StandardCharsets.UTF_8);
			for (int i = 0; i < LETTERS; i++) {
				ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>(topic + "-dlq", i % PARTITIONS,
						Integer.toString(i).getBytes(StandardCharsets.UTF_8), value);
				letter.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, topic.getBytes(StandardCharsets.UTF_8));
				letter.headers()
					.add(KafkaHeaders.DLT_EXCEPTION_FQCN, "java.io.IOException".getBytes(StandardCharsets.UTF_8));
				producer.send(letter);
			}
		}
	}

	private static double copy(String bootstrap, String topic) {
		Map<String, Object> settings = Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap,
				ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest", ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		List<TopicPartition> partitions = new ArrayList<>();
		for (int partition = 0; partition < PARTITIONS; partition++) {
			partitions.add(new TopicPartition(topic + "-dlq", partition));
		}
		try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(),
				new ByteArrayDeserializer());
				KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producer(bootstrap),
						new ByteArraySerializer(), new ByteArraySerializer())) {
			consumer.assign(partitions);
			consumer.seekToBeginning(partitions);
			long start = System.nanoTime();
			int copied = 0;
			while (copied < LETTERS + PARTITIONS) {
				ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
				for (ConsumerRecord<byte[], byte[]> record : records) {
					producer.send(new ProducerRecord<>(topic + "-copy", null, null, record.key(), record.value(),
							record.headers()));
				}
				producer.flush();
				copied += records.count();
			}
			return LETTERS * 1e9 / (System.nanoTime() - start);
		}
	}

	private static double merge(String bootstrap, String topic) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Target.class)
			.web(WebApplicationType.NONE)
			.properties(Map.of("spring.kafka.bootstrap-servers", bootstrap, "spring.main.banner-mode", "off",
					"merge.topic", topic))
			.run()) {
			DeadLetterJobs jobs = context.getBean(DeadLetterJobs.class);
			JobRequest request = new JobRequest(JobAction.MERGE, LetterFilter.NONE, JobTarget.SOURCE, 0, Long.MAX_VALUE,
					null, null, "benchmark", null);
			String id = jobs.start(context.getBean(Queues.class).find("merge").orElseThrow(), request).id();
			JobView job = jobs.find(id).orElseThrow();
			while (!job.status().isEnded()) {
				LockSupport.parkNanos(1_000_000);
				job = jobs.find(id).orElseThrow();
			}
			if (job.moved() != LETTERS || job.started() == null || job.ended() == null) {
				throw new IllegalStateException(job.toString());
			}
			return LETTERS * 1e9 / Duration.between(job.started(), job.ended()).toNanos();
		}
	}

	@EnableAutoConfiguration
	static class Target {

		@QueueListener(id = "merge", topics = "${merge.topic}", groupId = "${merge.topic}", autoStartup = "false")
		void handle(byte[] value) {
			// Stays where it is merged to, so that only the merge is measured.
		}

	}

}
