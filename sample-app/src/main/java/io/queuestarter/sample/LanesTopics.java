package io.queuestarter.sample;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.springframework.stereotype.Component;

/**
 * The topic that the lanes share, and what the queue writes beside it. <em>Not
 * thread-safe.</em>
 */
@Component
final class LanesTopics {

	private final Cluster cluster;

	private final DeadLetterTopic reader;

	private final Map<Tenancy, Long> firstLetters = new EnumMap<>(Tenancy.class);

	LanesTopics(Cluster cluster, DeadLetterTopic reader) {
		this.cluster = cluster;
		this.reader = reader;
	}

	/** Leaves out what earlier runs wrote; the queue must not be running. */
	void skipToEnd() {
		this.cluster.skipToEnd(LanesQueue.ID, LanesQueue.TOPIC);
		this.cluster.skipToEnd(LanesQueue.ID, LanesQueue.PARK_TOPIC);
	}

	/** Dead letters count from now on. */
	void mark() {
		for (Tenancy lane : Tenancy.values()) {
			this.firstLetters.put(lane, this.cluster.end(LanesQueue.deadLetterTopic(lane)));
		}
	}

	/** Numbers of a lane's trips that were dead-lettered. */
	List<Long> deadLetters(Tenancy lane) {
		return this.reader.tripsFrom(LanesQueue.deadLetterTopic(lane), this.firstLetters.getOrDefault(lane, 0L));
	}

	/** Number of trips that are not committed, those among them that were parked. */
	long unsettled() {
		return unsettled(LanesQueue.TOPIC) + unsettled(LanesQueue.PARK_TOPIC);
	}

	private long unsettled(String topic) {
		return this.cluster.end(topic) - this.cluster.committed(LanesQueue.ID, topic);
	}

}
