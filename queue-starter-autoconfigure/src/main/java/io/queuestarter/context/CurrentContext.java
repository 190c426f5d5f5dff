package io.queuestarter.context;

import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueContext;

/**
 * The attempt that the calling thread makes at this moment, for what it sends meanwhile.
 */
public final class CurrentContext {

	private static final ThreadLocal<@Nullable QueueContext> CURRENT = new ThreadLocal<>();

	private CurrentContext() {
	}

	/**
	 * Begins or ends an attempt on the calling thread.
	 * @param context the attempt, or {@code null} at its end
	 */
	public static void set(@Nullable QueueContext context) {
		if (context != null) {
			CURRENT.set(context);
		}
		else {
			CURRENT.remove();
		}
	}

	static @Nullable QueueContext get() {
		return CURRENT.get();
	}

}
