package io.queuestarter.lock;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Guards sections that workers go through for each record, mostly of a few instructions:
 * who finds it taken looks again for some microseconds before its thread parks.
 * <em>Thread-safe.</em>
 */
/*
 * To park and to be woken costs several times what such a section does, and the owner
 * pays for the waking: with two cores busy it was a quarter of what a record costs. No
 * more looks than that: on an owner that is off its core it is better to park.
 */
public final class BriefLock extends ReentrantLock {

	private static final long serialVersionUID = 1L;

	/** With one core the owner cannot go on while others look. */
	private static final int LOOKS = (Runtime.getRuntime().availableProcessors() > 1) ? 100 : 0;

	@Override
	public void lock() {
		if (!tryBriefly()) {
			super.lock();
		}
	}

	/**
	 * Takes the lock if it is free, or becomes so in a moment.
	 * @return {@code false} if it did not; for those who can do without
	 */
	public boolean tryBriefly() {
		boolean taken = tryLock();
		for (int look = 0; look < LOOKS && !taken; look++) {
			Thread.onSpinWait();
			taken = tryLock();
		}
		return taken;
	}

}
