package io.queuestarter.sample;

/**
 * Sees how far a listener has come.
 */
@FunctionalInterface
interface Watch {

	Progress look();

}
