package io.queuestarter.jobs;

import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;

/**
 * Brings dead letters to where a job moves them. <em>For the thread of one job.</em>
 */
interface Mover extends AutoCloseable {

	/** What keeps letters from being moved now, or null. */
	@Nullable String obstacle();

	/** Whether another letter may be moved now beside those under way. */
	boolean hasRoom();

	/** Begins to move a letter. Never blocks for long. */
	void move(DeadLetter letter);

	/**
	 * Tells what has become of letters since the last call.
	 * @param sink told of each letter, once
	 */
	void collect(BiConsumer<DeadLetter, MoveResult> sink);

	/** Letters under way. */
	int inFlight();

	/** Moves no further letter than those that cannot be stopped. */
	void stop();

	/** Gives up what is under way. */
	@Override
	void close();

}
