package io.queuestarter.testkit;

/**
 * How much a test does: little in the normal run, more with the Maven profile
 * {@code faults}.
 */
public final class Effort {

	/** Whether this is the long run. */
	public static final boolean IS_LONG = "long".equals(System.getProperty("queue.effort"));

	private Effort() {
	}

	/** The one or the other, as this run is the normal or the long one. */
	public static int of(int normal, int longer) {
		return IS_LONG ? longer : normal;
	}

}
