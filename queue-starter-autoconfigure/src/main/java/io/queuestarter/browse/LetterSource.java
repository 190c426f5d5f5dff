package io.queuestarter.browse;

import java.util.Set;

/**
 * Where the dead letters of a queue lie.
 *
 * @param topics its dead-letter topics
 * @param group its consumer group
 */
public record LetterSource(Set<String> topics, String group) {

}
