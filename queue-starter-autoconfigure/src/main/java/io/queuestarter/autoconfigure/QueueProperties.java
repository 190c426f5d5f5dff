package io.queuestarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

import io.queuestarter.Ordering;
import io.queuestarter.deadletter.TooLarge;
import io.queuestarter.intake.Foreign;
import io.queuestarter.intake.ZoneRule;
import io.queuestarter.settle.Routes.Aside;

/**
 * What can be set for a queue. Every value may be absent: then the annotation, the
 * defaults or the built-in value applies.
 *
 * @param group Consumer group.
 * @param ordering Which records wait for which.
 * @param dispatch How records are run.
 * @param batch How records are handled together by methods that take a list.
 * @param buffer How much is held in memory.
 * @param timeout How long an attempt may take.
 * @param retry How failed records are tried again.
 * @param ledger How settled records are remembered.
 * @param dlq Where failed records go.
 * @param circuitBreaker How outages of what handlers depend on are noticed.
 * @param blocking When records that hold up a partition are moved aside.
 * @param shutdown How partitions are given up.
 * @param lanes Which records are kept apart.
 * @param zone Which records run first, by where they come from.
 */
public record QueueProperties(@Nullable String group, @Nullable Ordering ordering, @Nullable Dispatch dispatch,
		@Nullable Batch batch, @Nullable Buffer buffer, @Nullable Timeout timeout, @Nullable Retry retry,
		@Nullable Ledger ledger, @Nullable Dlq dlq, @Nullable CircuitBreaker circuitBreaker,
		@Nullable Blocking blocking, @Nullable Shutdown shutdown, @Nullable Lanes lanes, @Nullable Zone zone) {

	/**
	 * Kind of threads that run handlers.
	 */
	public enum Mode {

		/** Virtual threads on Java 21 or later, platform threads before. */
		AUTO,

		/** Virtual threads; fails on Java versions without them. */
		VIRTUAL,

		/** A pool of platform threads, as many as records in flight. */
		PLATFORM

	}

	/**
	 * How records are run.
	 *
	 * @param mode Kind of threads that run handlers.
	 * @param maxInFlight Largest number of records handled at one time, over all
	 * partitions.
	 * @param maxLeaked Largest number of handlers that run on beyond it because they
	 * ignore that their attempt was cancelled. A quarter of it unless set.
	 */
	public record Dispatch(@Nullable Mode mode, @Nullable Integer maxInFlight, @Nullable Integer maxLeaked) {

	}

	/**
	 * How records are handled together by methods that take a list.
	 *
	 * @param size Largest number of records of a batch. At most, and unless set no more
	 * than, the records in flight.
	 * @param linger Longest wait of records that have a thread for others to join them.
	 */
	public record Batch(@Nullable Integer size, @Nullable Duration linger) {

	}

	/**
	 * How much is held in memory. One poll's records per partition may be held on top of
	 * it.
	 *
	 * @param maxRecords Largest number of records that wait for a thread, over all
	 * partitions.
	 * @param maxSize Largest size of all records admitted and not settled, over all
	 * partitions.
	 * @param partition Bounds of a single partition.
	 */
	public record Buffer(@Nullable Integer maxRecords, @Nullable DataSize maxSize, @Nullable Partition partition) {

	}

	/**
	 * Bounds of a single partition.
	 *
	 * @param maxRecords Largest number of records of one partition that wait for a
	 * thread. Half of the common bound unless set, so that no partition takes all of it.
	 * @param maxSize Largest size of the records of one partition that are admitted and
	 * not settled. Half of the common bound unless set.
	 */
	public record Partition(@Nullable Integer maxRecords, @Nullable DataSize maxSize) {

	}

	/**
	 * How long an attempt may take.
	 *
	 * @param initial Longest time an attempt may take before it counts as failed.
	 * @param multiplier Factor for each attempt of the same record that timed out.
	 * @param max Longest time of any attempt.
	 * @param maxCount Number of attempts that time out before a record is dead-lettered.
	 * @param grace Time that a handler may take to end when its attempt is cancelled;
	 * after it others get its place.
	 */
	public record Timeout(@Nullable Duration initial, @Nullable Double multiplier, @Nullable Duration max,
			@Nullable Integer maxCount, @Nullable Duration grace) {

	}

	/**
	 * How failed records are tried again.
	 *
	 * @param local Attempts in memory.
	 * @param topics Topics in which failed records rest after that, before each further
	 * attempt.
	 * @param retryFor Names of exception classes that are tried again; all others are
	 * dead-lettered at once. Empty to try all again.
	 * @param dlqFor Names of exception classes that are dead-lettered at once.
	 */
	public record Retry(@Nullable Local local, @Nullable List<RetryTopic> topics, @Nullable List<String> retryFor,
			@Nullable List<String> dlqFor) {

	}

	/**
	 * A topic in which failed records rest.
	 *
	 * @param topic Name of the topic; '{topic}' stands for the source topic, '{id}' for
	 * the id of the queue.
	 * @param delay Time that a record rests there, at most a day.
	 * @param attempts Number of times that a record goes through the topic, with one
	 * attempt each.
	 */
	public record RetryTopic(@Nullable String topic, @Nullable Duration delay, @Nullable Integer attempts) {

	}

	/**
	 * Attempts in memory.
	 *
	 * @param maxAttempts Number of attempts before a record is dead-lettered. One means
	 * no retry.
	 * @param initialInterval Largest delay after the first attempt; the delay is a random
	 * part of it. Zero retries at once.
	 * @param multiplier Factor from one largest delay to the next.
	 * @param maxInterval Largest delay after any attempt.
	 */
	public record Local(@Nullable Integer maxAttempts, @Nullable Duration initialInterval, @Nullable Double multiplier,
			@Nullable Duration maxInterval) {

	}

	/**
	 * How settled records are remembered.
	 *
	 * @param capacity Largest number of records of one partition from the lowest
	 * unsettled one on. When it is reached the partition waits for that record.
	 * @param commitInterval Time between commits.
	 */
	public record Ledger(@Nullable Integer capacity, @Nullable Duration commitInterval) {

	}

	/**
	 * Where failed records go.
	 *
	 * @param enabled Whether records are dead-lettered. Otherwise they are tried again
	 * for ever.
	 * @param topic Name of the dead-letter topic; '{topic}' stands for the source topic.
	 * @param create Whether a missing dead-letter topic is created, with the partition
	 * count of the source.
	 * @param onTooLarge What becomes of a record that is too large for the topic.
	 * @param budget How many records may be given up.
	 */
	public record Dlq(@Nullable Boolean enabled, @Nullable String topic, @Nullable Boolean create,
			@Nullable TooLarge onTooLarge, @Nullable Budget budget) {

	}

	/**
	 * How many records may be given up. Each success earns the right to give up one
	 * record.
	 *
	 * @param window How long a success counts.
	 * @param free Number of records per window that may be given up without successes.
	 * @param patience How long a record fails before it is given up while no other record
	 * succeeds, which is the sign of an outage.
	 */
	public record Budget(@Nullable Duration window, @Nullable Integer free, @Nullable Duration patience) {

	}

	/**
	 * How outages of what handlers depend on are noticed. The breaker itself is
	 * configured under resilience4j.circuitbreaker.
	 *
	 * @param enabled Whether there is a circuit breaker.
	 * @param instance Name of the resilience4j instance; '{id}' stands for the id of the
	 * queue.
	 * @param keyHeader Header whose value tells what a record depends on: each value has
	 * a breaker of its own.
	 */
	public record CircuitBreaker(@Nullable Boolean enabled, @Nullable String instance, @Nullable String keyHeader) {

	}

	/**
	 * When records that hold up a partition are moved aside.
	 *
	 * @param enabled Whether they are.
	 * @param action Where they are moved.
	 * @param parkTopic Name of the topic that action 'park' moves them to; '{topic}'
	 * stands for the source topic, '{id}' for the id of the queue. The queue handles them
	 * there.
	 * @param loadThreshold Share of the window in use above which a partition may be
	 * blocked.
	 * @param ackedThreshold Share of settled records among those above which it is.
	 * @param maxHolders Number of unsettled records up to which it is, too.
	 * @param maxHeadAge Age at which a record is moved aside whatever the window.
	 * @param maxVictims Largest number of records moved aside at one time.
	 */
	public record Blocking(@Nullable Boolean enabled, @Nullable Aside action, @Nullable String parkTopic,
			@Nullable Double loadThreshold, @Nullable Double ackedThreshold, @Nullable Integer maxHolders,
			@Nullable Duration maxHeadAge, @Nullable Integer maxVictims) {

	}

	/**
	 * How partitions are given up.
	 *
	 * @param drainTimeout Longest wait for records in flight when partitions are revoked
	 * or the queue stops. Zero does not wait.
	 */
	public record Shutdown(@Nullable Duration drainTimeout) {

	}

	/**
	 * Which records run first, by a header that tells where they come from.
	 *
	 * @param header Header whose value is the zone of a record.
	 * @param own Zone of this process. Its consumers fetch from brokers there
	 * (client.rack).
	 * @param mode What becomes of records of other zones.
	 * @param failOverAfter Age from which on 'strict' takes records of other zones.
	 */
	public record Zone(@Nullable String header, @Nullable String own, ZoneRule.@Nullable Mode mode,
			@Nullable Duration failOverAfter) {

	}

	/**
	 * Which records are kept apart, by a header.
	 *
	 * @param header Header whose value tells the lane of a record. No lanes unless set.
	 * @param defaultLane Lane of records without the header.
	 * @param named The lanes beside the default one. A value of the header that belongs
	 * to none is of the lane 'unknown'.
	 * @param serve Lanes that this process handles. All named ones and the default one
	 * unless set.
	 * @param onForeign What becomes of records of other lanes. Unless set they are
	 * skipped if 'serve' is set, and otherwise dead-lettered, or held if there are no
	 * dead letters.
	 * @param forwardTopic Name of the topic that 'forward' writes; '{topic}' stands for
	 * the source topic, '{lane}' for the lane.
	 */
	public record Lanes(@Nullable String header, @Nullable String defaultLane, @Nullable Map<String, Lane> named,
			@Nullable List<String> serve, @Nullable Foreign onForeign, @Nullable String forwardTopic) {

	}

	/**
	 * A lane. What is not set is as for the queue.
	 *
	 * @param values Values of the header that belong to the lane. The name of the lane
	 * unless values or a pattern are set.
	 * @param pattern Regular expression that further values of the lane match as a whole.
	 * @param dispatch How its records are run.
	 * @param timeout How long an attempt may take.
	 * @param retry How failed records are tried again; topics are those of the queue.
	 * @param dlq Where failed records go.
	 * @param circuitBreaker How outages of what its handlers depend on are noticed.
	 */
	public record Lane(@Nullable List<String> values, @Nullable Pattern pattern, @Nullable Dispatch dispatch,
			@Nullable Timeout timeout, @Nullable Retry retry, @Nullable Dlq dlq,
			@Nullable CircuitBreaker circuitBreaker) {

		QueueProperties asQueue() {
			return new QueueProperties(null, null, this.dispatch, null, null, this.timeout, this.retry, null, this.dlq,
					this.circuitBreaker, null, null, null, null);
		}

	}

}
