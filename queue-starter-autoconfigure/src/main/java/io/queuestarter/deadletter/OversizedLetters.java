package io.queuestarter.deadletter;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Delivery;

/**
 * Letters that their topic has refused as too large. <em>Thread-safe.</em>
 */
final class OversizedLetters {

	/** Each delivery with its dead-letter topic. */
	private final Map<Delivery, String> topics = new ConcurrentHashMap<>();

	void add(Delivery delivery, String topic) {
		this.topics.put(delivery, topic);
	}

	void remove(Delivery delivery) {
		this.topics.remove(delivery);
	}

	/**
	 * How many there are and what to do; those let go since are not counted.
	 * @return a text for operators, or {@code null} if there are none
	 */
	@Nullable String problem() {
		int count = 0;
		Set<String> names = new TreeSet<>();
		for (Map.Entry<Delivery, String> entry : this.topics.entrySet()) {
			if (!entry.getKey().isEnded()) {
				count++;
				names.add("'" + entry.getValue() + "'");
			}
		}
		return (count == 0) ? null : count + ((count == 1) ? " record is" : " records are") + " too large for "
				+ String.join(", ", names) + "; raise max.message.bytes of the topic";
	}

}
