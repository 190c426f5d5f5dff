package io.queuestarter.delivery;

/**
 * One call of a handler, for one record or for several. What it answers is the answer to
 * the attempts that are made by it.
 */
public interface HandlerCall {

	/**
	 * Notes that the handler was called: its arguments could be made of the records.
	 */
	void called();

	/**
	 * Says that the answer comes later than the handler's return. Worker thread only.
	 */
	void awaitAnswer();

	/**
	 * What to do when nobody waits for the call any more while its asynchronous result is
	 * awaited.
	 * @param action the action; run once, and at once if that is so already. An exception
	 * it throws is logged.
	 */
	void onCancel(Runnable action);

	/**
	 * Runs a task whose log lines are about this call.
	 * @param task the task
	 */
	void run(Runnable task);

	/**
	 * The handler succeeded. Any thread.
	 */
	void handled();

	/**
	 * The handler failed. Any thread.
	 * @param error why
	 */
	void failed(Throwable error);

}
