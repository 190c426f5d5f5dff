package io.queuestarter.jobs;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.browse.Resolved;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.ChildJvm;
import io.queuestarter.testkit.MergeWorker;
import io.queuestarter.testkit.ProcessTrial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that merges 10,000 dead letters, 500 a second, and is killed half-way.
 */
@Tag("faults")
class MergeKillTests {

	private static final Logger LOGGER = LoggerFactory.getLogger(MergeKillTests.class);

	private static final int LETTERS = 10_000;

	private static final int PARTITIONS = 4;

	@Test
	void M3_mergeThatIsKilledHalfWayIsResumedWithoutALossAndWithFewRepeats(@TempDir Path folder) {
		String topic = Broker.newTopic("merge-kill", PARTITIONS);
		Broker.createTopic(topic + "-dlq", PARTITIONS, Map.of());
		deadLetter(topic);

		try (ChildJvm first = MergeWorker.start(Broker.bootstrap(), topic, folder, 0)) {
			ProcessTrial.eventually().until(() -> MergeWorker.handled(folder, 0).size() >= LETTERS / 2);
			first.kill();
		}
		List<String> before = MergeWorker.handled(folder, 0);
		assertThat(before).as("handled by the first process").hasSizeLessThan(LETTERS);
		try (ChildJvm second = MergeWorker.start(Broker.bootstrap(), topic, folder, 1)) {
			ProcessTrial.eventually().until(() -> unresolved(topic) == 0);
			assertThat(second.isAlive()).isTrue();
		}
		List<String> after = MergeWorker.handled(folder, 1);

		Set<String> all = new HashSet<>(before);
		all.addAll(after);
		int repeats = before.size() + after.size() - all.size();
		LOGGER.info("{} handled before the kill, {} after it, {} lost, {} repeated", before.size(), after.size(),
				LETTERS - all.size(), repeats);
		assertThat(all).as("handled at least once").hasSize(LETTERS);
		assertThat(repeats).as("repeated").isLessThanOrEqualTo(MergeWorker.RATE);
	}

	private static void deadLetter(String topic) {
		try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap()), new ByteArraySerializer(),
				new ByteArraySerializer())) {
			for (int number = 0; number < LETTERS; number++) {
				ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>(topic + "-dlq", number % PARTITIONS, null,
						Integer.toString(number).getBytes(StandardCharsets.UTF_8));
				letter.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, topic.getBytes(StandardCharsets.UTF_8));
				producer.send(letter);
			}
		}
	}

	private static long unresolved(String topic) {
		long unresolved = 0;
		for (int partition = 0; partition < PARTITIONS; partition++) {
			Resolved resolved = Resolved.of(Broker.committed(topic + ".dlq", topic + "-dlq", partition),
					Long.MAX_VALUE);
			unresolved += resolved.unresolved(0, Broker.end(new TopicPartition(topic + "-dlq", partition)));
		}
		return unresolved;
	}

}
