package io.queuestarter.jobs;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;
import io.queuestarter.deadletter.DeadLetterHeaders;

/**
 * Says which dead letters a job must leave where they are. <em>For the thread of one
 * job.</em>
 */
final class LetterJudge {

	private final JobQueue queue;

	private final JobRequest request;

	private final int maxMerges;

	private final ClusterLook cluster;

	private final Map<String, Boolean> existing = new HashMap<>();

	LetterJudge(JobQueue queue, JobRequest request, int maxMerges, ClusterLook cluster) {
		this.queue = queue;
		this.request = request;
		this.maxMerges = maxMerges;
		this.cluster = cluster;
	}

	/**
	 * Judges a dead letter.
	 * @param letter the letter
	 * @return why it stays, or {@code null} if it may go
	 */
	@Nullable SkipReason reasonToStay(DeadLetter letter) {
		if (this.request.action() == JobAction.PURGE) {
			return null;
		}
		if (letter.merges() >= this.maxMerges) {
			return SkipReason.MAX_MERGES;
		}
		boolean edited = this.request.edit() != null && this.request.edit().value() != null;
		if (!edited && letter.record().headers().lastHeader(DeadLetterHeaders.DROPPED_BYTES) != null) {
			return SkipReason.NO_VALUE;
		}
		if (letter.group() != null && !letter.group().equals(this.queue.group())) {
			return SkipReason.FOREIGN_GROUP;
		}
		return (this.request.target().kind() == JobTarget.Kind.TOPIC) ? null : skipsOrigin(letter.originTopic());
	}

	private @Nullable SkipReason skipsOrigin(@Nullable String origin) {
		if (origin == null) {
			return SkipReason.NO_ORIGIN;
		}
		if (!this.queue.isSource(origin)) {
			return SkipReason.FOREIGN_ORIGIN;
		}
		if (this.request.target().kind() == JobTarget.Kind.SOURCE
				&& !this.existing.computeIfAbsent(origin, this.cluster::exists)) {
			return SkipReason.VANISHED_ORIGIN;
		}
		return null;
	}

}
