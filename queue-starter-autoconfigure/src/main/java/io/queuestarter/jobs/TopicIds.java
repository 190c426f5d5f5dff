package io.queuestarter.jobs;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.common.Uuid;

/**
 * Tells topics from those that bear their names later. <em>Not thread-safe.</em>
 * <p>
 * Neither consumer nor commit notices that a topic is deleted and created anew: what was
 * resolved of the old one would hide letters of the new one.
 */
final class TopicIds {

	private final ClusterLook cluster;

	/** Those that existed at first. */
	private final Map<String, Uuid> ids = new HashMap<>();

	/**
	 * Looks at topics.
	 * @param known ids that were seen before; the others are asked for
	 */
	TopicIds(ClusterLook cluster, Collection<String> topics, Map<String, Uuid> known) {
		this.cluster = cluster;
		for (String topic : topics) {
			Uuid id = known.containsKey(topic) ? known.get(topic) : cluster.id(topic);
			if (id != null) {
				this.ids.put(topic, id);
			}
		}
	}

	/** Those that exist, by topic. */
	Map<String, Uuid> ids() {
		return Map.copyOf(this.ids);
	}

	/**
	 * Asks the broker.
	 * @throws JobFailedException if a topic is not the one that it was
	 */
	void check() {
		this.ids.forEach((topic, id) -> {
			if (!id.equals(this.cluster.id(topic))) {
				throw new JobFailedException("Topic '" + topic
						+ "' was deleted, or deleted and created anew; nothing is remembered of the one there was",
						null);
			}
		});
	}

}
