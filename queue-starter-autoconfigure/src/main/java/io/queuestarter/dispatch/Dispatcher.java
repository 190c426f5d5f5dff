package io.queuestarter.dispatch;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

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

	static final int NO_SLOT = -1;

	/**
	 * Most workers that are started and have not taken a task yet. One that takes a task
	 * starts the next, so quick tasks are done by a few instead of by one each.
	 */
	private static final int MOST_ON_THE_WAY = 8;

	final ReentrantLock lock = new ReentrantLock();

	/** Queues with waiting tasks, in turn. Guarded by the lock. */
	private final ArrayDeque<TaskQueue<T>> turn = new ArrayDeque<>();

	/** Running tasks by slot; written under the lock, read without. */
	private final AtomicReferenceArray<@Nullable T> slots;

	/** Queues that the running tasks came from, by slot. Guarded by the lock. */
	private final TaskQueue<T>[] owners;

	/** Slots without a task, as a stack. Guarded by the lock. */
	private final int[] freeSlots;

	/** Number of entries in {@link #freeSlots}, reserved or not. Guarded by the lock. */
	private int free;

	/** Workers started that have not taken a task yet. Guarded by the lock. */
	private int reserved;

	/** Tasks of all queues that wait. Guarded by the lock. */
	private int queued;

	/**
	 * Tasks of counted queues that wait. Written under the lock; a reader may be late.
	 */
	private volatile int waiting;

	/** Guarded by the lock. */
	private boolean stopped;

	private final int lowMark;

	private final Executor workers;

	private final TaskRunner<T> runner;

	private final Runnable roomListener;

	private final Runnable worker = this::work;

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
		this.slots = new AtomicReferenceArray<>(maxInFlight);
		this.owners = newOwners(maxInFlight);
		this.freeSlots = new int[maxInFlight];
		for (int slot = 0; slot < maxInFlight; slot++) {
			this.freeSlots[slot] = maxInFlight - 1 - slot;
		}
		this.free = maxInFlight;
		this.lowMark = lowMark;
		this.workers = workers;
		this.runner = runner;
		this.roomListener = roomListener;
		this.turns = (order != null) ? new KeyTurns<>(order) : null;
		this.batches = (batching != null) ? new Batches<>(this, batching, this.lock.newCondition()) : null;
	}

	@SuppressWarnings("unchecked")
	private static <T> TaskQueue<T>[] newOwners(int size) {
		return new TaskQueue[size];
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
			int before = this.waiting;
			if (this.turns != null) {
				this.turns.closed(queue);
			}
			queue.closed = true;
			count(queue, -queue.tasks.size());
			queue.tasks.clear();
			if (queue.inTurn) {
				this.turn.remove(queue);
				queue.inTurn = false;
			}
			room = before > this.lowMark && this.waiting <= this.lowMark;
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
			int before = queue.tasks.size();
			queue.tasks.removeIf(over);
			count(queue, queue.tasks.size() - before);
			if (queue.inTurn && queue.tasks.isEmpty()) {
				this.turn.remove(queue);
				queue.inTurn = false;
			}
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
				queue.tasks.addAll(tasks);
				queued(queue, tasks.size());
			}
			else {
				for (T task : tasks) {
					if (order.enters(queue, task)) {
						enqueue(queue, task);
					}
				}
				signalFollowers();
			}
			start = reserve();
		}
		finally {
			this.lock.unlock();
		}
		start(start);
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

	private void enqueue(TaskQueue<T> queue, T task) {
		queue.tasks.add(task);
		queued(queue, 1);
	}

	private void queued(TaskQueue<T> queue, int tasks) {
		count(queue, tasks);
		if (!queue.inTurn) {
			queue.inTurn = true;
			this.turn.add(queue);
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
		startLater(start);
	}

	private void follow(KeyTurns.@Nullable Follower<T> next) {
		if (next != null) {
			enqueue(next.queue(), next.task());
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
		startLater(start);
	}

	private void startLater(int count) {
		try {
			start(count);
		}
		catch (Throwable ex) {
			// The caller is in the middle of an answer or of a drain, to be carried out,
			// or has a task to run.
		}
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
		start(start);
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
		return this.waiting;
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
			return this.slots.length() - this.free;
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
		return this.slots.length();
	}

	/**
	 * Visits the tasks that occupy a slot. Tasks that start or end meanwhile may be
	 * missed.
	 * @param visitor called for each task
	 */
	public void forEachInFlight(Consumer<? super T> visitor) {
		for (int slot = 0; slot < this.slots.length(); slot++) {
			T task = this.slots.get(slot);
			if (task != null) {
				visitor.accept(task);
			}
		}
	}

	private void work() {
		if (this.batches != null) {
			this.batches.work();
			return;
		}
		int slot = next(NO_SLOT, 1);
		while (slot != NO_SLOT) {
			slot = next(ends(slot) ? slot : NO_SLOT, 0);
		}
	}

	private boolean ends(int slot) {
		try {
			return this.runner.run(Objects.requireNonNull(this.slots.get(slot)), slot);
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
			this.reserved -= reservations;
			if (ended != NO_SLOT) {
				free(ended);
			}
			TaskQueue<T> queue = (this.stopped || this.free == 0) ? null : nextInTurn();
			slot = (queue != null) ? take(queue) : NO_SLOT;
			start = reserve();
			room = queue != null && isRoom(queue);
		}
		finally {
			this.lock.unlock();
		}
		startLater(start);
		if (room) {
			this.roomListener.run();
		}
		return slot;
	}

	/** Whether a low mark was reached by the task that was taken last. */
	boolean isRoom(TaskQueue<T> queue) {
		return queue.tasks.size() == queue.lowMark || this.waiting == this.lowMark;
	}

	/**
	 * While counted tasks wait, one of their queues stands in the ring and is found.
	 */
	@Nullable TaskQueue<T> nextInTurn() {
		TaskQueue<T> queue = this.turn.poll();
		while (queue != null && this.waiting > 0 && queue.running >= queue.share) {
			this.turn.add(queue);
			queue = this.turn.poll();
		}
		return queue;
	}

	/** The next queue in turn, for who must leave some counted tasks to others. */
	@Nullable TaskQueue<T> nextBeside(int counted) {
		if (this.waiting > counted) {
			return nextInTurn();
		}
		return (this.queued > this.waiting) ? next(false) : null;
	}

	/** The next queue in turn whose tasks count as waiting. */
	@Nullable TaskQueue<T> nextCounted() {
		return (this.waiting > 0) ? next(true) : null;
	}

	/** The next queue in turn of a kind of which there is one. */
	private TaskQueue<T> next(boolean counted) {
		TaskQueue<T> queue = this.turn.remove();
		while (queue.counted != counted) {
			this.turn.add(queue);
			queue = this.turn.remove();
		}
		return queue;
	}

	boolean isStopped() {
		return this.stopped;
	}

	boolean mayTake() {
		return !this.stopped && this.free > 0;
	}

	/** Frees the slots of runs, whose worker goes on or has just begun. */
	void ended(Collection<Taken<T>> runs, int reservations) {
		this.reserved -= reservations;
		runs.forEach((run) -> free(run.slot()));
	}

	/** What was done under the lock is told without it, by a worker. */
	void tell(boolean room, int start) {
		if (room) {
			this.roomListener.run();
		}
		startLater(start);
	}

	Taken<T> taken(int slot) {
		return new Taken<>(Objects.requireNonNull(this.slots.get(slot)), slot);
	}

	/** Takes the task that waits for one that has just been taken, if it may join it. */
	int takeBehind(T task) {
		KeyTurns.Follower<T> next = (this.turns != null) ? this.turns.join(task) : null;
		return (next != null) ? occupy(next.queue(), next.task()) : NO_SLOT;
	}

	int take(TaskQueue<T> queue) {
		T task = queue.tasks.remove();
		if (queue.tasks.isEmpty()) {
			queue.inTurn = false;
		}
		else {
			this.turn.add(queue);
		}
		count(queue, -1);
		return occupy(queue, task);
	}

	private int occupy(TaskQueue<T> queue, T task) {
		int slot = this.freeSlots[--this.free];
		this.slots.set(slot, task);
		this.owners[slot] = queue;
		queue.running++;
		if (this.turns != null) {
			this.turns.taken(task);
		}
		return slot;
	}

	private void count(TaskQueue<T> queue, int change) {
		this.queued += change;
		if (queue.counted) {
			this.waiting += change;
		}
	}

	private void free(int slot) {
		T task = this.slots.getAndSet(slot, null);
		if (task == null) {
			throw new IllegalStateException("Slot " + slot + " is free already");
		}
		this.owners[slot].running--;
		this.freeSlots[this.free++] = slot;
		if (this.turns != null) {
			follow(this.turns.freed(task));
		}
	}

	/**
	 * Reserves slots for new workers: as many as tasks wait for, slots are left, and may
	 * be on the way.
	 */
	int reserve() {
		if (this.stopped) {
			return 0;
		}
		int count = Math.min(MOST_ON_THE_WAY, workers()) - this.reserved;
		if (count <= 0) {
			return 0;
		}
		this.reserved += count;
		return count;
	}

	private int workers() {
		Batches<T> together = this.batches;
		if (together == null) {
			return Math.min(this.queued, this.free);
		}
		if (this.waiting > 0 && this.free > 0) {
			together.signal();
		}
		return together.workers(this.queued - this.waiting, this.waiting, this.free);
	}

	private void start(int count) {
		int started = 0;
		try {
			while (started < count) {
				this.workers.execute(this.worker);
				started++;
			}
		}
		finally {
			if (started < count) {
				this.lock.lock();
				try {
					this.reserved -= count - started;
				}
				finally {
					this.lock.unlock();
				}
			}
		}
	}

}
