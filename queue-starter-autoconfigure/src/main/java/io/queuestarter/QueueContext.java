package io.queuestarter;

import java.time.Duration;
import java.time.Instant;

import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * What a handler may know and decide about the attempt it makes on one record. Declare it
 * as a parameter of a {@link QueueListener} method.
 * <p>
 * The first answer wins: {@link #ack()}, {@link #reject(String)},
 * {@link #retryAfter(Duration)}, the method's return or exception, and the timeout race,
 * and what comes later changes nothing. <em>Thread-safe.</em>
 *
 * @since 0.1.0
 */
public interface QueueContext {

	/**
	 * Number of this attempt on the record since it was delivered to this process.
	 * @return the number, counted from 1
	 */
	int attempt();

	/**
	 * Times that an operator had the record handled again after it was dead-lettered.
	 * @return the number, 0 for a record that was never dead-lettered
	 */
	int mergeCount();

	/**
	 * Lane that the record belongs to, by its headers. Property: {@code lanes}.
	 * @return name of the lane, {@code default} unless lanes are configured
	 */
	String lane();

	/**
	 * Zone that the record comes from, by its headers. Property: {@code zone}.
	 * @return name of the zone, or {@code null} if the record names none or zones are not
	 * configured
	 */
	@Nullable String zone();

	/**
	 * Copies the headers that tell lane and zone of the record, byte for byte, for a
	 * record that is to be sent. What the handler sends on its own thread has them
	 * already, if its producer is that of Spring Boot; this is for other threads and
	 * producers.
	 * @param headers headers of the record to be sent; those that are there already stay
	 */
	void copyTo(Headers headers);

	/**
	 * Moment at which the attempt times out.
	 * @return the deadline
	 */
	Instant deadline();

	/**
	 * Time left until {@link #deadline()}.
	 * @return the time left, zero when the deadline has passed
	 */
	Duration remaining();

	/**
	 * Whether nobody waits for this attempt any more: it timed out, or the partition was
	 * taken away, or it has answered and runs on after {@link #deadline()}. Its thread is
	 * interrupted as well. A handler that loops should look.
	 * @return {@code true} if it should end
	 */
	boolean isCancelled();

	/**
	 * Settles the record as handled, also before the method has returned.
	 */
	void ack();

	/**
	 * Ends the attempt as failed and asks for another after {@code delay}. The attempt
	 * counts: when the configured number is used up the record is dead-lettered, unless
	 * dead-lettering is switched off.
	 * @param delay time to wait, zero or more; more than a day is cut to a day
	 * @throws IllegalArgumentException if {@code delay} is negative
	 */
	void retryAfter(Duration delay);

	/**
	 * Sends the record to the dead-letter topic without further attempts.
	 * @param reason why, for the operator who will read the dead letter
	 */
	void reject(String reason);

}
