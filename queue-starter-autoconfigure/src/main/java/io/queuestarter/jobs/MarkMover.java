package io.queuestarter.jobs;

import java.util.ArrayDeque;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;

/**
 * Moves dead letters nowhere: they are only remembered as resolved.
 */
final class MarkMover implements Mover {

	private final ArrayDeque<DeadLetter> marked = new ArrayDeque<>();

	@Override
	public @Nullable String obstacle() {
		return null;
	}

	@Override
	public boolean hasRoom() {
		return true;
	}

	@Override
	public void move(DeadLetter letter) {
		this.marked.add(letter);
	}

	@Override
	public void collect(BiConsumer<DeadLetter, MoveResult> sink) {
		DeadLetter next = this.marked.poll();
		while (next != null) {
			sink.accept(next, MoveResult.DONE);
			next = this.marked.poll();
		}
	}

	@Override
	public int inFlight() {
		return this.marked.size();
	}

	@Override
	public void stop() {
		this.marked.clear();
	}

	@Override
	public void close() {
		this.marked.clear();
	}

}
