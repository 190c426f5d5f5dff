package io.queuestarter.jobs;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What a job would do, as far as was looked.
 *
 * @param id id of the plan, by which the job can be started
 * @param queue id of the queue
 * @param request what the job would be asked to do
 * @param matched dead letters that the filter matches and that are not resolved
 * @param scanned dead letters read
 * @param complete whether all of them were read; the counts are too small otherwise
 * @param perException dead letters to be moved, by exception
 * @param perTarget dead letters to be moved, by topic that they go to or came from
 * @param skipped dead letters that would stay although they match, by reason
 * @param estimated time that it takes at the rate asked for, or {@code null} without a
 * rate
 * @param obstacles what keeps records from being deleted, by partition
 * @param expires time until which the job can be started
 */
public record Plan(String id, String queue, JobRequest request, long matched, long scanned, boolean complete,
		Map<String, Long> perException, Map<String, Long> perTarget, Map<String, Long> skipped,
		@Nullable Duration estimated, Map<String, String> obstacles, Instant expires) {

}
