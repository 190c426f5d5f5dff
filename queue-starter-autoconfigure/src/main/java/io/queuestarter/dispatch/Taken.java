package io.queuestarter.dispatch;

/**
 * A task that occupies a slot.
 *
 * @param <T> type of the task
 * @param task the task
 * @param slot number of the slot
 */
public record Taken<T>(T task, int slot) {

}
