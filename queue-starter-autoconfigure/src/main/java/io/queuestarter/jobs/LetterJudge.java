package io.queuestarter.jobs;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueException;
import io.queuestarter.browse.DeadLetter;
import io.queuestarter.deadletter.DeadLetterHeaders;

/**
 * Says which dead letters a job must leave where they are. <em>For the thread of one
 * job.</em>
 */
final class LetterJudge {

	private static final long LOOK_UP_SECONDS = 10;

	private final JobQueue queue;

	private final JobRequest request;

	private final int maxMerges;

	private final Admin admin;

	private final Map<String, Boolean> existing = new HashMap<>();

	LetterJudge(JobQueue queue, JobRequest request, int maxMerges, Admin admin) {
		this.queue = queue;
		this.request = request;
		this.maxMerges = maxMerges;
		this.admin = admin;
	}

	/**
	 * Judges a dead letter.
	 * @param letter the letter
	 * @return why it stays, or {@code null} if it may go
	 */
	@Nullable SkipReason skips(DeadLetter letter) {
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
		return (this.request.target().kind() == JobTarget.Kind.TOPIC) ? null : skipsFor(letter);
	}

	private @Nullable SkipReason skipsFor(DeadLetter letter) {
		String origin = letter.originTopic();
		if (origin == null) {
			return SkipReason.NO_ORIGIN;
		}
		if (!this.queue.isSource(origin)) {
			return SkipReason.FOREIGN_ORIGIN;
		}
		if (letter.group() != null && !letter.group().equals(this.queue.group())) {
			return SkipReason.FOREIGN_GROUP;
		}
		if (this.request.target().kind() == JobTarget.Kind.SOURCE
				&& !this.existing.computeIfAbsent(origin, this::exists)) {
			return SkipReason.VANISHED_ORIGIN;
		}
		return null;
	}

	private boolean exists(String topic) {
		return exists(this.admin, topic);
	}

	/** Whether there is a topic of a name. */
	static boolean exists(Admin admin, String topic) {
		try {
			admin.describeTopics(Set.of(topic)).allTopicNames().get(LOOK_UP_SECONDS, TimeUnit.SECONDS);
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new QueueException("Interrupted while topic '" + topic + "' was looked up", ex);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
				return false;
			}
			throw new QueueException("Topic '" + topic + "' could not be looked up: " + ex.getCause(), ex);
		}
		catch (TimeoutException ex) {
			throw new QueueException("Topic '" + topic + "' could not be looked up within " + LOOK_UP_SECONDS + " s",
					ex);
		}
	}

}
