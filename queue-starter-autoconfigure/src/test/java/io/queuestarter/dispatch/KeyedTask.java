package io.queuestarter.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * A task of tests that may have a key and is over when it is told so.
 */
final class KeyedTask {

	/** Tasks of one key wait for each other. */
	static final TaskOrder<KeyedTask> ORDER = new TaskOrder<>() {

		@Override
		public @Nullable Object keyOf(KeyedTask task) {
			return task.key;
		}

		@Override
		public boolean isOver(KeyedTask task) {
			return task.over;
		}

	};

	final @Nullable String key;

	final int number;

	boolean over;

	KeyedTask(@Nullable String key, int number) {
		this.key = key;
		this.number = number;
	}

	@Override
	public String toString() {
		return this.key + "-" + this.number;
	}

}
