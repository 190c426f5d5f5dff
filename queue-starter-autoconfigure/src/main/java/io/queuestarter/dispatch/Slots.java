package io.queuestarter.dispatch;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Which task occupies which slot of a {@link Dispatcher}. State is guarded by the lock of
 * the dispatcher, except that tasks are read without.
 *
 * @param <T> type of the tasks
 */
final class Slots<T> {

	static final int NONE = -1;

	/** Running tasks by slot; written under the lock, read without. */
	private final AtomicReferenceArray<@Nullable T> tasks;

	/** Queues that the running tasks came from, by slot. */
	private final TaskQueue<T>[] owners;

	/** Slots without a task, as a stack. */
	private final int[] freeSlots;

	/** Number of entries in {@link #freeSlots}, reserved or not. */
	private int free;

	Slots(int size) {
		this.tasks = new AtomicReferenceArray<>(size);
		this.owners = newOwners(size);
		this.freeSlots = new int[size];
		for (int slot = 0; slot < size; slot++) {
			this.freeSlots[slot] = size - 1 - slot;
		}
		this.free = size;
	}

	@SuppressWarnings("unchecked")
	private static <T> TaskQueue<T>[] newOwners(int size) {
		return new TaskQueue[size];
	}

	/** Number of slots. Needs no lock. */
	int size() {
		return this.tasks.length();
	}

	/** Number of slots without a task. */
	int free() {
		return this.free;
	}

	/** Gives a task the slot that was freed last; to be called only if one is free. */
	int occupy(TaskQueue<T> queue, T task) {
		int slot = this.freeSlots[--this.free];
		this.tasks.set(slot, task);
		this.owners[slot] = queue;
		queue.running++;
		return slot;
	}

	/** Frees a slot and answers whose it was. */
	T free(int slot) {
		T task = this.tasks.getAndSet(slot, null);
		if (task == null) {
			throw new IllegalStateException("Slot " + slot + " is free already");
		}
		this.owners[slot].running--;
		this.freeSlots[this.free++] = slot;
		return task;
	}

	/** The task in a slot that is occupied. Needs no lock. */
	T task(int slot) {
		return Objects.requireNonNull(this.tasks.get(slot));
	}

	/** Visits the tasks. Needs no lock; those that come or go may be missed. */
	void forEach(Consumer<? super T> visitor) {
		for (int slot = 0; slot < this.tasks.length(); slot++) {
			T task = this.tasks.get(slot);
			if (task != null) {
				visitor.accept(task);
			}
		}
	}

}
