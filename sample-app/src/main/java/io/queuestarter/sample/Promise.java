package io.queuestarter.sample;

/**
 * Something that a queue promises.
 *
 * @param kept whether it was kept
 * @param text what it is, in figures
 */
record Promise(boolean kept, String text) {

}
