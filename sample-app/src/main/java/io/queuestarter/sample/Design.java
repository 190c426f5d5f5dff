package io.queuestarter.sample;

/**
 * The three ways to consume that the story compares. Each has a topic and a consumer
 * group of its own, so that no act inherits work of another.
 */
enum Design {

	/** See {@link NativeListener}. */
	NATIVE("native", "a plain @KafkaListener"),

	/** See {@link ParallelListener}. */
	PARALLEL("parallel", "a batch @KafkaListener with a thread pool"),

	/** See {@link BillingQueue}. */
	QUEUE("queue", "@QueueListener");

	private final String label;

	private final String description;

	Design(String label, String description) {
		this.label = label;
		this.description = description;
	}

	String label() {
		return this.label;
	}

	String description() {
		return this.description;
	}

	/** Id of the listener. */
	String listener() {
		return "billing-" + this.label;
	}

	/** Consumer group of the listener. */
	String group() {
		return "billing-" + this.label;
	}

	String topic() {
		return "trips-" + this.label;
	}

}
