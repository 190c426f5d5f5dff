package io.queuestarter.container;

/**
 * A call of a handler of the simulation that has returned and answers later.
 */
interface SimulatedCall {

	/**
	 * Answers.
	 * @return {@code false} if the answer for some of the records is still to come
	 */
	boolean answer();

	/** Answers once more, which changes nothing. */
	void answerAgain();

}
