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
	 * @param roomListener told by the thread that brings the bytes held down to half of
	 * the limit; must be quick
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
	 * Whether at most half of the limit is held.
	 * @return {@code true} if there is room for more than a few records
	 */
	public boolean hasRoom() {
		return this.held.get() <= this.limit / 2;
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
		if (now <= this.limit / 2 && now + bytes > this.limit / 2) {
			this.roomListener.run();
		}
	}

}
