package io.queuestarter.sample;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.stereotype.Component;

/**
 * The dead letters of the queue, as anybody may read them: a trip remains a trip.
 */
@Component
final class DeadLetterTopic {

	private static final String TOPIC = Design.QUEUE.topic() + "-dlq";

	private final ConsumerFactory<String, Trip> consumers;

	private final Cluster cluster;

	DeadLetterTopic(ConsumerFactory<String, Trip> consumers, Cluster cluster) {
		this.consumers = consumers;
		this.cluster = cluster;
	}

	/** Offset of the next dead letter. */
	long end() {
		return this.cluster.end(TOPIC);
	}

	/** Numbers of the trips from an offset on, in their order. */
	List<Long> tripsFrom(long offset) {
		return tripsFrom(TOPIC, offset);
	}

	/** The same of another dead-letter topic. */
	List<Long> tripsFrom(String topic, long offset) {
		long end = this.cluster.end(topic);
		TopicPartition partition = new TopicPartition(topic, 0);
		List<Long> trips = new ArrayList<>();
		try (Consumer<String, Trip> consumer = this.consumers.createConsumer("dead-letter-reader", null)) {
			consumer.assign(List.of(partition));
			consumer.seek(partition, offset);
			while (consumer.position(partition) < end) {
				consumer.poll(Duration.ofSeconds(1)).forEach((letter) -> trips.add(letter.value().number()));
			}
		}
		return trips;
	}

}
