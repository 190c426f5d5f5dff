package io.queuestarter.dispatch;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import io.queuestarter.lock.BriefLock;

/**
 * Runs tasks of several queues on worker threads, at most a fixed number at one time.
 * Queues with waiting tasks take turns, one task each, so that a long queue delays the
 * others by no more than one task per turn. <em>Thread-safe.</em>
 *
 * @param <T> type of the tasks
 */
/*
 * A slot is the right to run one task. A worker owns a slot, runs one task after the
 * other in it, and ends when nothing waits; a new worker is started when tasks are
 * submitted or taken, and slots are free. So no thread waits for work, and no wake-up can
 * be missed: submitting, taking the next task and giving back a slot happen under one
 * lock, which is held for a few instructions and never while a task runs, a thread is
 * started or a listener is told.
 */
public final class Dispatcher<T> {

	final ReentrantLock lock = new BriefLock();

	final QueuesInTurn<T> queues;

	final Slots<T> slots;

	private final Workers workers;

	/** Guarded by the lock. */
	private boolean stopped;

	private final TaskRunner<T> runner;

	private final Runnable roomListener;

	/** Guarded by the lock; null if no task waits for another. */
	private final @Nullable KeyTurns<T> turns;

	/** Null if each task runs alone. */
	private final @Nullable Batches<T> batches;

	/**
	 * Creates a dispatcher whose tasks wait for no other.
	 * @param maxInFlight number of slots
	 * @param lowMark number of waiting tasks at which the listener is told
	 * @param workers starts a worker
	 * @param runner runs a task
	 * @param roomListener told when the waiting tasks have come down to a low mark
	 */
	public Dispatcher(int maxInFlight, int lowMark, Executor workers, TaskRunner<T> runner, Runnable roomListener) {
		this(maxInFlight, lowMark, workers, runner, roomListener, null);
	}

	/**
	 * Creates a dispatcher.
	 * @param maxInFlight number of slots
	 * @param lowMark number of waiting tasks at which the listener is told
	 * @param workers starts a worker; called with at most {@code maxInFlight} workers
	 * alive
	 * @param runner runs a task
	 * @param roomListener told when the waiting tasks have come down to a low mark, the
	 * common one or that of a queue, on a worker or by whoever closes a queue; must be
	 * quick
	 * @param order which tasks must not run at one time, or {@code null}. Those that wait
	 * for others do not count as waiting for a slot.
	 */
	public Dispatcher(int maxInFlight, int lowMark, Executor workers, TaskRunner<T> runner, Runnable roomListener,
			@Nullable TaskOrder<T> order) {
		this(maxInFlight, lowMark, workers, runner, roomListener, order, null);
	}

	/**
	 * Creates a dispatcher that may run tasks together.
	 * @param maxInFlight number of slots; each task of a batch occupies one
	 * @param lowMark number of waiting tasks at which the listener is told
	 * @param workers starts a worker
	 * @param runner runs a task
	 * @param roomListener told when the waiting tasks have come down to a low mark
	 * @param order which tasks must not run at one time, or {@code null}. Those of a key
	 * may run together.
	 * @param batching how tasks run together, instead of by {@code runner}; or
	 * {@code null} if each runs alone
	 */
	public Dispatcher(int maxInFlight, int lowMark, Executor workers, TaskRunner<T> runner, Runnable roomListener,
			@Nullable TaskOrder<T> order, @Nullable Batching<T> batching) {
		if (maxInFlight < 1) {
			throw new IllegalArgumentException("'maxInFlight' must be at least 1: " + maxInFlight);
		}
		this.slots = new Slots<>(maxInFlight);
		this.queues = new QueuesInTurn<>(lowMark);
		this.workers = new Workers(this.lock, workers, this::work);
		this.runner = runner;
		this.roomListener = roomListener;
		this.turns = (order != null) ? new KeyTurns<>(order) : null;
		this.batches = (batching != null) ? new Batches<>(this, batching, this.lock.newCondition()) : null;
	}

	/**
	 * Opens a queue.
	 * @param queueLowMark number of its waiting tasks at which the listener is told
	 * @return the queue, which only this dispatcher accepts
	 */
	public TaskQueue<T> open(int queueLowMark) {
		return new TaskQueue<>(this, queueLowMark, true, Integer.MAX_VALUE);
	}

	/**
	 * Opens a queue whose tasks take turns like others but do not count as
	 * {@link #waiting()}, and occupy no more than a share of the slots while others wait.
	 * @param share largest number of slots then; 0 runs them only if no others wait
	 * @return the queue
	 */
	public TaskQueue<T> openAside(int share) {
		return new TaskQueue<>(this, -1, false, share);
	}

	/**
	 * Closes a queue. Its waiting tasks are dropped; running ones go on.
	 * @param queue the queue
	 */
	public void close(TaskQueue<T> queue) {
		boolean room;
		this.lock.lock();
		try {
			if (this.turns != null) {
				this.turns.closed(queue);
			}
			queue.closed = true;
			room = this.queues.clear(queue);
		}
		finally {
			this.lock.unlock();
		}
		if (room) {
			this.roomListener.run();
		}
	}

	/**
	 * Drops waiting tasks of a queue.
	 * @param queue the queue
	 * @param over tells the tasks that nobody needs to run; called under the lock
	 */
	public void drop(TaskQueue<T> queue, Predicate<? super T> over) {
		this.lock.lock();
		try {
			this.queues.drop(queue, over);
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Adds tasks to a queue and starts workers while slots are free. Never blocks. Tasks
	 * for a closed queue are dropped.
	 * @param queue the queue
	 * @param tasks the tasks, first come first served
	 */
	public void submit(TaskQueue<T> queue, Collection<? extends T> tasks) {
		int start;
		this.lock.lock();
		try {
			if (queue.closed || tasks.isEmpty()) {
				return;
			}
			KeyTurns<T> order = this.turns;
			if (order == null) {
				this.queues.add(queue, tasks);
			}
			else {
				for (T task : tasks) {
					if (order.enters(queue, task)) {
						this.queues.add(queue, task);
					}
				}
				signalFollowers();
			}
			start = reserve();
		}
		finally {
			this.lock.unlock();
		}
		this.workers.start(start);
	}

	/**
	 * Adds one task to a queue. See {@link #submit(TaskQueue, Collection)}.
	 * @param queue the queue
	 * @param task the task
	 */
	public void submit(TaskQueue<T> queue, T task) {
		submit(queue, List.of(task));
	}

	/**
	 * Adds a task to a queue that ran and is to run again, as {@link #submit} does. That
	 * no worker could be started for it is not told here: {@link #catchUp()} does.
	 * @param queue the queue
	 * @param task the task
	 */
	public void giveBack(TaskQueue<T> queue, T task) {
		try {
			submit(queue, task);
		}
		catch (Throwable ex) {
			// The caller is in the middle of an answer, to be carried out.
		}
	}

	/** A task may join the one in front of it, or there is a slot for it now. */
	private void signalFollowers() {
		if (this.batches != null && this.turns != null) {
			this.batches.signal();
		}
	}

	void ended(T task) {
		KeyTurns<T> order = this.turns;
		if (order == null) {
			return;
		}
		int start;
		this.lock.lock();
		try {
			follow(order.ended(task));
			start = reserve();
		}
		finally {
			this.lock.unlock();
		}
		this.workers.tryStart(start);
	}

	private void follow(KeyTurns.@Nullable Follower<T> next) {
		if (next != null) {
			this.queues.add(next.queue(), next.task());
		}
	}

	/**
	 * Gives back the slot of a run that ended without its worker. That no worker could be
	 * started for it is not told here: {@link #catchUp()} does.
	 * @param slot the slot of a run that returned {@code false}, once
	 */
	public void release(int slot) {
		int start;
		this.lock.lock();
		try {
			free(slot);
			signalFollowers();
			start = reserve();
		}
		finally {
			this.lock.unlock();
		}
		this.workers.tryStart(start);
	}

	/**
	 * Takes tasks again after {@link #stop()}.
	 */
	public void start() {
		this.lock.lock();
		try {
			this.stopped = false;
		}
		finally {
			this.lock.unlock();
		}
		catchUp();
	}

	/**
	 * Starts workers for tasks that wait while slots are free, because workers could not
	 * be started before. To be called now and then: a failure to start is told only to
	 * the thread that tried, and that thread may be a handler's.
	 */
	public void catchUp() {
		int start;
		this.lock.lock();
		try {
			start = reserve();
		}
		finally {
			this.lock.unlock();
		}
		this.workers.start(start);
	}

	/**
	 * Takes no further task; running ones go on, waiting ones stay.
	 */
	public void stop() {
		this.lock.lock();
		try {
			this.stopped = true;
			if (this.batches != null) {
				this.batches.signal();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Number of tasks of counted queues that wait for a slot.
	 * @return the number over all counted queues; may be late by a moment
	 */
	public int waiting() {
		return this.queues.counted();
	}

	/**
	 * Number of tasks of one queue that wait for a slot.
	 * @param queue the queue
	 * @return the number
	 */
	public int waiting(TaskQueue<T> queue) {
		this.lock.lock();
		try {
			return queue.tasks.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Number of tasks that wait for others with the same key.
	 * @return the number, 0 if no task waits for another
	 */
	public int waitingForTurn() {
		KeyTurns<T> order = this.turns;
		if (order == null) {
			return 0;
		}
		this.lock.lock();
		try {
			return order.waiting();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Keys of which a task has its turn. */
	int keysInTurn() {
		KeyTurns<T> order = this.turns;
		if (order == null) {
			return 0;
		}
		this.lock.lock();
		try {
			return order.keys();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Number of tasks that occupy a slot.
	 * @return the number in flight
	 */
	public int inFlight() {
		this.lock.lock();
		try {
			return this.slots.size() - this.slots.free();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Largest number of tasks at one time.
	 * @return the number of slots
	 */
	public int limit() {
		return this.slots.size();
	}

	/**
	 * Visits the tasks that occupy a slot. Tasks that start or end meanwhile may be
	 * missed.
	 * @param visitor called for each task
	 */
	public void forEachInFlight(Consumer<? super T> visitor) {
		this.slots.forEach(visitor);
	}

	private void work() {
		if (this.batches != null) {
			this.batches.work();
			return;
		}
		int slot = next(Slots.NONE, 1);
		while (slot != Slots.NONE) {
			slot = next(ends(slot) ? slot : Slots.NONE, 0);
		}
	}

	private boolean ends(int slot) {
		try {
			return this.runner.run(this.slots.task(slot), slot);
		}
		catch (Throwable ex) {
			release(slot);
			throw ex;
		}
	}

	/** Frees the slot of the run that ended, if one did, and takes the next task. */
	private int next(int ended, int reservations) {
		int slot;
		int start;
		boolean room;
		this.lock.lock();
		try {
			this.workers.arrived(reservations);
			if (ended != Slots.NONE) {
				free(ended);
			}
			TaskQueue<T> queue = mayTake() ? this.queues.next() : null;
			slot = (queue != null) ? take(queue) : Slots.NONE;
			start = reserve();
			room = queue != null && this.queues.isRoom(queue);
		}
		finally {
			this.lock.unlock();
		}
		this.workers.tryStart(start);
		if (room) {
			this.roomListener.run();
		}
		return slot;
	}

	boolean isStopped() {
		return this.stopped;
	}

	boolean mayTake() {
		return !this.stopped && this.slots.free() > 0;
	}

	/** Frees the slots of runs, whose worker goes on or has just begun. */
	void ended(Collection<Taken<T>> runs, int reservations) {
		this.workers.arrived(reservations);
		runs.forEach((run) -> free(run.slot()));
	}

	/** What was done under the lock is told without it, by a worker. */
	void tell(boolean room, int start) {
		if (room) {
			this.roomListener.run();
		}
		this.workers.tryStart(start);
	}

	/** Takes the task that waits for one that has just been taken, if it may join it. */
	int takeBehind(T task) {
		KeyTurns.Follower<T> next = (this.turns != null) ? this.turns.join(task) : null;
		return (next != null) ? occupy(next.queue(), next.task()) : Slots.NONE;
	}

	/** Takes a task of the queue that is next in turn, and a slot for it. */
	int take(TaskQueue<T> queue) {
		return occupy(queue, this.queues.take(queue));
	}

	private int occupy(TaskQueue<T> queue, T task) {
		int slot = this.slots.occupy(queue, task);
		if (this.turns != null) {
			this.turns.taken(task);
		}
		return slot;
	}

	private void free(int slot) {
		T task = this.slots.free(slot);
		if (this.turns != null) {
			follow(this.turns.freed(task));
		}
	}

	/** Reserves workers for the tasks that wait while there are slots for them. */
	int reserve() {
		return this.stopped ? 0 : this.workers.reserve(workersWanted());
	}

	private int workersWanted() {
		int free = this.slots.free();
		Batches<T> together = this.batches;
		if (together == null) {
			return Math.min(this.queues.waiting(), free);
		}
		int counted = this.queues.counted();
		if (counted > 0 && free > 0) {
			together.signal();
		}
		return together.workers(this.queues.waiting() - counted, counted, free);
	}

}
