package io.queuestarter.container;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What the broker says of the log of a partition.
 *
 * @param start lowest offset in the log, or -1 if not known
 * @param end offset behind the last record that may be read, or -1 if not known
 * @param retention age at which records may be deleted, or {@code null} if they are kept
 * whatever their age, or it is not known
 */
public record LogBounds(long start, long end, @Nullable Duration retention) {

	static final LogBounds UNKNOWN = new LogBounds(-1, -1, null);

}
