package io.queuestarter.dispatch;

/**
 * That a {@link Dispatcher} runs tasks together.
 *
 * @param <T> type of the tasks
 * @param size largest number of tasks that run together, at least 1
 * @param lingerNanos how long tasks that have a worker wait for others
 * @param runner runs them
 */
public record Batching<T>(int size, long lingerNanos, BatchRunner<T> runner) {

}
