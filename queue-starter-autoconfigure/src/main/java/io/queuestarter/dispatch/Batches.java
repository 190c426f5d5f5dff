package io.queuestarter.dispatch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.Condition;

import org.jspecify.annotations.Nullable;

/**
 * Workers of a {@link Dispatcher} that run several tasks together. Tasks of queues that
 * are not counted run alone. All state is guarded by the lock of the dispatcher.
 *
 * @param <T> type of the tasks
 */
/*
 * A worker takes what is ready, up to a batch, and then waits a little for more. So that
 * what comes meanwhile joins it, no other worker is started for as many tasks as it has
 * places left, nor takes them. Each task occupies a slot of its own, and those of a batch
 * that end with their worker are given back together: given back one by one they would be
 * taken one by one.
 */
final class Batches<T> {

	private final Dispatcher<T> dispatcher;

	private final int size;

	private final long lingerNanos;

	private final BatchRunner<T> runner;

	/** Told when there are tasks or slots that there were not before. */
	private final Condition more;

	/** Places left in batches whose workers wait for more. */
	private int open;

	Batches(Dispatcher<T> dispatcher, Batching<T> batching, Condition more) {
		if (batching.size() < 1) {
			throw new IllegalArgumentException("'size' must be at least 1: " + batching.size());
		}
		this.dispatcher = dispatcher;
		this.size = batching.size();
		this.lingerNanos = batching.lingerNanos();
		this.runner = batching.runner();
		this.more = more;
	}

	/** Workers for tasks that wait, beside those whose workers wait for them. */
	int workers(int alone, int together, int free) {
		int left = Math.min(free, Math.max(0, together - this.open));
		return Math.min(free, alone + (left + this.size - 1) / this.size);
	}

	/** Tells workers that wait for more to look. */
	void signal() {
		if (this.open > 0) {
			this.more.signalAll();
		}
	}

	/** The life of a worker. Called without the lock. */
	void work() {
		List<Taken<T>> batch = next(List.of(), 1);
		while (!batch.isEmpty()) {
			batch = next(run(batch), 0);
		}
	}

	private Collection<Taken<T>> run(List<Taken<T>> batch) {
		try {
			return this.runner.run(batch);
		}
		catch (Throwable ex) {
			batch.forEach((taken) -> this.dispatcher.release(taken.slot()));
			throw ex;
		}
	}

	/** Frees the slots of the runs that ended, and takes the next tasks. */
	private List<Taken<T>> next(Collection<Taken<T>> ended, int reservations) {
		List<Taken<T>> batch = new ArrayList<>();
		boolean room = false;
		boolean lingers = false;
		int start;
		this.dispatcher.lock.lock();
		try {
			this.dispatcher.ended(ended, reservations);
			TaskQueue<T> queue = this.dispatcher.mayTake() ? this.dispatcher.queues.nextBeside(this.open) : null;
			if (queue != null) {
				room = take(queue, batch);
				room |= queue.counted && fill(batch);
				lingers = queue.counted && waits(batch, this.lingerNanos);
				this.open += lingers ? this.size - batch.size() : 0;
			}
			start = this.dispatcher.reserve();
		}
		finally {
			this.dispatcher.lock.unlock();
		}
		this.dispatcher.tell(room, start);
		if (lingers) {
			linger(batch);
		}
		return batch;
	}

	/** The places that the batch has left are open until it waits no longer. */
	private void linger(List<Taken<T>> batch) {
		long left = this.lingerNanos;
		boolean waits = true;
		while (waits) {
			boolean room;
			int start;
			this.dispatcher.lock.lock();
			try {
				int before = batch.size();
				room = fill(batch);
				if (batch.size() == before && waits(batch, left)) {
					left = await(left);
					room |= fill(batch);
				}
				waits = waits(batch, left);
				this.open -= (waits ? batch.size() : this.size) - before;
				start = this.dispatcher.reserve();
			}
			finally {
				this.dispatcher.lock.unlock();
			}
			this.dispatcher.tell(room, start);
		}
	}

	private boolean waits(List<Taken<T>> batch, long nanos) {
		return nanos > 0 && batch.size() < this.size && !this.dispatcher.isStopped();
	}

	/** Answers how long to wait on, zero or less if no longer. */
	private long await(long nanos) {
		try {
			return this.more.awaitNanos(nanos);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return 0;
		}
	}

	/** Those behind a task of the batch come first, then queues in turn. */
	private boolean fill(List<Taken<T>> batch) {
		boolean room = false;
		for (int member = 0; member < batch.size(); member++) {
			follow(batch, batch.get(member).task());
		}
		TaskQueue<T> queue = hasPlace(batch) ? this.dispatcher.queues.nextCounted() : null;
		while (queue != null) {
			room |= take(queue, batch);
			follow(batch, batch.get(batch.size() - 1).task());
			queue = hasPlace(batch) ? this.dispatcher.queues.nextCounted() : null;
		}
		return room;
	}

	private boolean hasPlace(List<Taken<T>> batch) {
		return batch.size() < this.size && this.dispatcher.mayTake();
	}

	private boolean take(TaskQueue<T> queue, List<Taken<T>> batch) {
		batch.add(taken(this.dispatcher.take(queue)));
		return this.dispatcher.queues.isRoom(queue);
	}

	private void follow(List<Taken<T>> batch, T task) {
		Taken<T> next = hasPlace(batch) ? follower(task) : null;
		while (next != null) {
			batch.add(next);
			next = hasPlace(batch) ? follower(task) : null;
		}
	}

	private @Nullable Taken<T> follower(T task) {
		int slot = this.dispatcher.takeBehind(task);
		return (slot != Slots.NONE) ? taken(slot) : null;
	}

	private Taken<T> taken(int slot) {
		return new Taken<>(this.dispatcher.slots.task(slot), slot);
	}

}
