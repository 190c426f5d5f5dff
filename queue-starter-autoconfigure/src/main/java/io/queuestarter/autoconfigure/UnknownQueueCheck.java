package io.queuestarter.autoconfigure;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeSet;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.container.QueueDefinitions;

/**
 * Refuses settings under {@code kafka-queue.listeners} for queues that do not exist.
 */
final class UnknownQueueCheck implements SmartInitializingSingleton {

	private final QueueDefinitions definitions;

	private final KafkaQueueProperties properties;

	UnknownQueueCheck(QueueDefinitions definitions, KafkaQueueProperties properties) {
		this.definitions = definitions;
		this.properties = properties;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Map<String, QueueProperties> configured = this.properties.listeners();
		if (configured == null) {
			return;
		}
		TreeSet<String> known = new TreeSet<>(this.definitions.ids());
		for (String id : configured.keySet()) {
			if (!known.contains(id)) {
				throw new QueueConfigurationException(
						"kafka-queue.listeners." + id + " configures queue '" + id + "', but there is none.",
						"Known ids: " + known + "." + suggestion(id, known)
								+ " An id with other characters than letters, digits and '-' stands in brackets: "
								+ "\"[orders.v1]\".");
			}
		}
	}

	private static String suggestion(String id, TreeSet<String> known) {
		return known.stream()
			.filter((candidate) -> distance(id, candidate) <= Math.max(2, id.length() / 3))
			.min(Comparator.comparingInt((candidate) -> distance(id, candidate)))
			.map((candidate) -> " Did you mean '" + candidate + "'?")
			.orElse("");
	}

	/** Number of single-character edits between two words (Levenshtein). */
	private static int distance(String left, String right) {
		int[] row = new int[right.length() + 1];
		for (int j = 0; j < row.length; j++) {
			row[j] = j;
		}
		for (int i = 1; i <= left.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j < row.length; j++) {
				int above = row[j];
				int change = (left.charAt(i - 1) == right.charAt(j - 1)) ? 0 : 1;
				row[j] = Math.min(Math.min(row[j - 1], above) + 1, diagonal + change);
				diagonal = above;
			}
		}
		return row[right.length()];
	}

}
