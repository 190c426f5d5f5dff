package io.queuestarter.delivery;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes of payload held for records that are not settled, against a limit. One record may
 * exceed what is left, so that a record larger than the limit is handled as well.
 * <em>Thread-safe.</em>
 */
public final class ByteBudget {

	private final long limit;

	private final Runnable roomListener;

	private final AtomicLong held = new AtomicLong();

	/**
	 * Creates a budget.
	 * @param limit largest number of bytes
	 * @param roomListener told by the thread that brings the bytes held below the limit;
	 * must be quick
	 */
	public ByteBudget(long limit, Runnable roomListener) {
		this.limit = limit;
		this.roomListener = roomListener;
	}

	/**
	 * Whether the limit is reached.
	 * @return {@code true} if nothing more should be taken
	 */
	public boolean isSpent() {
		return this.held.get() >= this.limit;
	}

	/**
	 * Bytes held.
	 * @return the number of bytes
	 */
	public long held() {
		return this.held.get();
	}

	void take(int bytes) {
		this.held.addAndGet(bytes);
	}

	void release(int bytes) {
		long now = this.held.addAndGet(-bytes);
		if (now < this.limit && now + bytes >= this.limit) {
			this.roomListener.run();
		}
	}

}
