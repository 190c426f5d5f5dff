package io.queuestarter.benchmarks.compare;

/**
 * One way to consume a topic.
 */
interface Arm {

	/**
	 * Starts consuming.
	 * @param scenario how
	 * @param records what
	 * @param probe the handler
	 * @return what stops it
	 */
	Running start(Scenario scenario, Records records, Probe probe);

	/**
	 * Consumers that run.
	 */
	interface Running extends AutoCloseable {

		/** Whether the broker knows that all records are done. */
		boolean isCommitted();

		@Override
		void close();

	}

}
