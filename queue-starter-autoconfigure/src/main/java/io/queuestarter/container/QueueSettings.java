package io.queuestarter.container;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.queuestarter.Ordering;
import io.queuestarter.blockage.BlockageRule;
import io.queuestarter.deadletter.TooLarge;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.intake.IntakeLimits;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.retry.RetryTier;
import io.queuestarter.settle.ExceptionPolicy;
import io.queuestarter.settle.Routes.Aside;

/**
 * Settings of one queue, as they are in effect.
 *
 * @param id id of the queue
 * @param group consumer group, or {@code null} to take that of the consumer factory
 * @param ordering which records wait for which
 * @param workers how records are run
 * @param limits bounds of what the queue holds
 * @param timeouts longest times of attempts
 * @param outage how outages are told from poison
 * @param blocking when records that hold a watermark are moved aside
 * @param aside where they are moved
 * @param retry how failed records are tried again
 * @param exceptions which exceptions are worth another attempt
 * @param commitInterval time between commits
 * @param deadLetters where failed records go
 * @param drainTimeout longest wait for running records when partitions are given up
 * @param lanes which records are kept apart
 * @param origins value and source of every setting, by key
 */
public record QueueSettings(String id, @Nullable String group, Ordering ordering, Workers workers, IntakeLimits limits,
		Timeouts timeouts, OutageSettings outage, BlockageRule blocking, Aside aside, Retry retry,
		ExceptionPolicy exceptions, Duration commitInterval, DeadLetterTopic deadLetters, Duration drainTimeout,
		LaneSettings lanes, Map<String, Origin> origins) {

	/**
	 * The same with lanes.
	 * @param others which records are kept apart
	 * @return the settings
	 */
	public QueueSettings with(LaneSettings others) {
		return new QueueSettings(this.id, this.group, this.ordering, this.workers, this.limits, this.timeouts,
				this.outage, this.blocking, this.aside, this.retry, this.exceptions, this.commitInterval,
				this.deadLetters, this.drainTimeout, others, this.origins);
	}

	/**
	 * How records are run.
	 *
	 * @param virtual whether on virtual threads
	 * @param maxInFlight largest number of records handled at one time
	 * @param maxLeaked handlers that may run beyond, because they ignored an interrupt
	 * @param batch how records are handled together, or {@code null} if each is handled
	 * alone
	 */
	public record Workers(boolean virtual, int maxInFlight, int maxLeaked, @Nullable Batch batch) {

		/**
		 * Records that are handled alone.
		 * @param virtual whether on virtual threads
		 * @param maxInFlight largest number of records handled at one time
		 * @param maxLeaked handlers that may run beyond, because they ignored an
		 * interrupt
		 */
		public Workers(boolean virtual, int maxInFlight, int maxLeaked) {
			this(virtual, maxInFlight, maxLeaked, null);
		}

	}

	/**
	 * How records are handled together.
	 *
	 * @param size largest number of records that a handler takes
	 * @param linger how long those that have a thread wait for others
	 */
	public record Batch(int size, Duration linger) {

	}

	/**
	 * Longest times of attempts.
	 *
	 * @param attempt longest time of an attempt
	 * @param maxCount attempts that time out before a record is dead-lettered
	 * @param grace time that a cancelled handler may take to end
	 */
	public record Timeouts(AttemptTimeout attempt, int maxCount, Duration grace) {

	}

	/**
	 * How failed records are tried again.
	 *
	 * @param maxAttempts number of attempts in memory
	 * @param initialInterval largest delay after the first attempt
	 * @param multiplier factor from one delay to the next
	 * @param maxInterval largest delay
	 * @param tiers topics in which they rest after that, first one first
	 * @param parkTopic name of the park topic, in which {@code {topic}} stands for the
	 * source topic; or {@code null} for none
	 */
	public record Retry(int maxAttempts, Duration initialInterval, double multiplier, Duration maxInterval,
			List<RetryTier> tiers, @Nullable String parkTopic) {

		boolean hasTopics() {
			return !this.tiers.isEmpty() || this.parkTopic != null;
		}

	}

	/**
	 * Where failed records go.
	 *
	 * @param enabled whether records are dead-lettered
	 * @param topic name of the topic; {@code {topic}} stands for the source topic
	 * @param create whether a missing topic is created
	 * @param onTooLarge what becomes of a record that is too large for the topic
	 */
	public record DeadLetterTopic(boolean enabled, String topic, boolean create, TooLarge onTooLarge) {

	}

	/**
	 * Where a setting comes from.
	 *
	 * @param value the value in effect, as text
	 * @param source where it was set, for instance {@code application.yml - 12:9}
	 */
	public record Origin(String value, String source) {

	}

}
