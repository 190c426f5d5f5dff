package io.queuestarter.browse;

/**
 * Shows a dead letter.
 *
 * @param <T> what it makes of it
 */
@FunctionalInterface
public interface LetterView<T> {

	/**
	 * Shows a dead letter.
	 * @param letter the dead letter, which may be large and should not be kept
	 * @param resolved whether it is resolved
	 * @return what is shown
	 */
	T of(DeadLetter letter, boolean resolved);

}
