package io.queuestarter.browse;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * How many dead letters wait for a decision.
 *
 * @param count dead letters that are not resolved
 * @param oldest timestamp of the oldest of them, if there is one
 */
public record LetterDepth(long count, @Nullable Instant oldest) {

}
