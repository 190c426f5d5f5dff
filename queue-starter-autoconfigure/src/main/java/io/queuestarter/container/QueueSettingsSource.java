package io.queuestarter.container;

/**
 * Finds out which settings a queue has.
 */
@FunctionalInterface
public interface QueueSettingsSource {

	/**
	 * Resolves the settings of a queue.
	 * @param definition the queue
	 * @return its settings
	 * @throws RuntimeException if a value is impossible; the message names value and
	 * origin
	 */
	QueueSettings settingsOf(QueueDefinition definition);

}
