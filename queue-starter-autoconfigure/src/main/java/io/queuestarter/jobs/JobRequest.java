package io.queuestarter.jobs;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.LetterFilter;

/**
 * What a job is asked to do.
 *
 * @param action what it does
 * @param filter which dead letters it takes
 * @param target where merged ones go; of no meaning for a purge
 * @param rate largest number taken a second, 0 for no limit
 * @param max largest number taken
 * @param edit what is changed in the one letter of a replay
 * @param ends ends that the job stays below, beside those of the logs when it starts, and
 * nothing of other partitions or topics; {@code null} without a plan
 * @param by who asked
 * @param reason why, in the words of who asked
 */
public record JobRequest(JobAction action, LetterFilter filter, JobTarget target, int rate, long max,
		@Nullable Edit edit, @Nullable PlanEnds ends, @Nullable String by, @Nullable String reason) {

	/**
	 * The same within bounds.
	 * @param limits ends to stay below
	 * @return the bounded request
	 */
	JobRequest until(PlanEnds limits) {
		return new JobRequest(this.action, this.filter, this.target, this.rate, this.max, this.edit, limits, this.by,
				this.reason);
	}

	/**
	 * Where the job ends.
	 * @param begins where the logs begin
	 * @param now where they end when the job starts
	 * @return first offset by partition that is not touched
	 */
	Map<TopicPartition, Long> bounds(Map<TopicPartition, Long> begins, Map<TopicPartition, Long> now) {
		Map<TopicPartition, Long> bounds = new HashMap<>();
		begins.forEach((partition, begin) -> {
			long end = now.getOrDefault(partition, begin);
			long planned = (this.ends != null) ? this.ends.offsets().getOrDefault(partition, begin) : end;
			long last = this.filter.highest(partition).orElse(end - 1);
			bounds.put(partition, Math.max(begin, Math.min(Math.min(end, planned), last + 1)));
		});
		return bounds;
	}

	/**
	 * The same, asked for by somebody else.
	 * @param who who asks
	 * @param why why, or {@code null} for the reason given before
	 * @return the request
	 */
	public JobRequest by(@Nullable String who, @Nullable String why) {
		return new JobRequest(this.action, this.filter, this.target, this.rate, this.max, this.edit, this.ends, who,
				(why != null) ? why : this.reason);
	}

	/**
	 * Whether all that lies in the topics is purged: then the records are deleted, rather
	 * than remembered as resolved.
	 * @return {@code false} for a purge with a filter, and for a merge
	 */
	public boolean isPurgeOfAll() {
		return this.action == JobAction.PURGE && isOfAll();
	}

	/**
	 * Whether all that lies in whole topics is meant.
	 * @return {@code false} if a filter or a largest number takes less
	 */
	public boolean isOfAll() {
		return Set.of("topic").containsAll(this.filter.understood().keySet()) && this.max == Long.MAX_VALUE;
	}

}
