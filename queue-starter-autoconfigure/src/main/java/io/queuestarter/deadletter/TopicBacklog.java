package io.queuestarter.deadletter;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * Letters for one topic that wait since a write to it has failed. <em>For the publisher's
 * thread</em>, except where a method says otherwise.
 */
final class TopicBacklog {

	private final ArrayDeque<Letter> held = new ArrayDeque<>();

	/** Increased by the publisher thread and reset by the producer's. */
	private final AtomicInteger pauses = new AtomicInteger();

	/** Whether all letters for the topic wait for the end of a back-off. */
	private boolean pausing;

	/** Volatile; what the last write failed with, or null if one has succeeded since. */
	private volatile @Nullable String problem;

	void hold(Letter letter) {
		this.held.add(letter);
	}

	/** Answers the next letter and takes it out. */
	Letter remove() {
		return this.held.remove();
	}

	int size() {
		return this.held.size();
	}

	boolean isPausing() {
		return this.pausing;
	}

	/** Answers how many back-offs there have been in a row. */
	int pause() {
		this.pausing = true;
		return this.pauses.incrementAndGet();
	}

	/** The back-off is over. What was let go meanwhile is no problem any more. */
	void resume() {
		this.pausing = false;
		if (this.held.stream().allMatch((letter) -> letter.delivery().isEnded())) {
			this.problem = null;
		}
	}

	void failed(String text) {
		this.problem = text;
	}

	/** A write has succeeded. Any thread. */
	void written() {
		this.pauses.set(0);
		this.problem = null;
	}

	/** What the last write failed with, or null. Any thread. */
	@Nullable String problem() {
		return this.problem;
	}

}
