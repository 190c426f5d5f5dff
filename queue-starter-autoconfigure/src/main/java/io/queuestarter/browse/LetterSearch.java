package io.queuestarter.browse;

import org.jspecify.annotations.Nullable;

/**
 * What is looked for.
 *
 * @param filter which dead letters are meant
 * @param resolvedToo whether resolved ones are shown too
 * @param limit largest number of dead letters found
 * @param cursor where to go on, or {@code null} to begin
 */
public record LetterSearch(LetterFilter filter, boolean resolvedToo, int limit, @Nullable String cursor) {

}
