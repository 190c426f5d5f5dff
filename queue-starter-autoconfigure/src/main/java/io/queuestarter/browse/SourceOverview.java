package io.queuestarter.browse;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The dead-letter topics of a queue in short.
 *
 * @param topics its topics, by name
 * @param problem why not all were looked at, or {@code null}
 */
public record SourceOverview(List<TopicOverview> topics, @Nullable String problem) {

}
