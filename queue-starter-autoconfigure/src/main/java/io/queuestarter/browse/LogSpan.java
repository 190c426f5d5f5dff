package io.queuestarter.browse;

/**
 * What a log holds at a moment.
 *
 * @param start lowest offset
 * @param end offset behind the last record that may be read
 */
public record LogSpan(long start, long end) {

}
