package io.queuestarter.browse;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Dead letters that a search found.
 *
 * @param <T> how a dead letter is shown
 * @param records what was found
 * @param scanned records read
 * @param complete whether all was read that was there when the search began
 * @param nextCursor where to go on, or {@code null} if complete
 * @param stoppedBy why it ended
 */
public record LetterPage<T>(List<T> records, long scanned, boolean complete, @Nullable String nextCursor,
		StoppedBy stoppedBy) {

}
