package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A job at one moment.
 *
 * @param id its id
 * @param queue id of the queue
 * @param action what it does
 * @param status where it stands
 * @param by who asked for it
 * @param reason why
 * @param filter which dead letters it takes, as understood
 * @param target where merged ones go, or {@code null} for a purge
 * @param edited what is changed in the letter of a replay: {@code value} and names of
 * headers; the letter as it was stays where it is
 * @param rate largest number taken a second, 0 for no limit
 * @param max largest number taken, if there is one
 * @param instance process that runs it
 * @param created when it was asked for
 * @param started when it began to work
 * @param ended when it was over
 * @param snapshotEnd offsets by partition that it stays below
 * @param position offsets by partition that it has come to
 * @param toScan offsets between position and end at its start
 * @param scanned dead letters read, resolved ones included
 * @param moved dead letters resolved: handled, written, or purged
 * @param failedAgain of these, those that the handler failed with: each is a new dead
 * letter
 * @param skipped matching ones that stay, by reason
 * @param skippedLetters the first of them, and of those that could not be moved
 * @param failed dead letters that could not be moved and stay
 * @param inFlight dead letters under way
 * @param ratePerSecond letters moved a second so far
 * @param eta time left if it goes on like this, if that can be told
 * @param waitsFor what it waits for, if it does
 * @param lastError what went wrong last
 */
public record JobView(String id, String queue, JobAction action, JobStatus status, @Nullable String by,
		@Nullable String reason, Map<String, Object> filter, @Nullable String target, @Nullable List<String> edited,
		int rate, @Nullable Long max, String instance, Instant created, @Nullable Instant started,
		@Nullable Instant ended, Map<String, Long> snapshotEnd, Map<String, Long> position, long toScan, long scanned,
		long moved, long failedAgain, Map<String, Long> skipped, List<Skipped> skippedLetters, long failed,
		int inFlight, double ratePerSecond, @Nullable Duration eta, @Nullable String waitsFor,
		@Nullable String lastError) {

	/**
	 * A dead letter that stays although the filter matches it.
	 *
	 * @param dlq its coordinates, {@code topic-partition@offset}
	 * @param reason why it stays
	 */
	public record Skipped(String dlq, String reason) {

	}

}
