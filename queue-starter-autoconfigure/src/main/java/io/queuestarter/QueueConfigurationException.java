package io.queuestarter;

/**
 * A queue is configured in a way that cannot work. Start-up fails with it.
 *
 * @since 0.1.0
 */
public class QueueConfigurationException extends QueueException {

	private static final long serialVersionUID = 1L;

	private final String description;

	private final String action;

	/**
	 * Creates an exception.
	 * @param description what is wrong: the property or method, its value and origin
	 * @param action what to do about it
	 */
	public QueueConfigurationException(String description, String action) {
		super(description + " " + action, null);
		this.description = description;
		this.action = action;
	}

	/**
	 * What is wrong.
	 * @return the description, without the action
	 */
	public String getDescription() {
		return this.description;
	}

	/**
	 * What to do about it.
	 * @return the action
	 */
	public String getAction() {
		return this.action;
	}

}
