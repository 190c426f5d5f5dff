package io.queuestarter;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.core.annotation.AliasFor;
import org.springframework.kafka.annotation.KafkaListener;

/**
 * Marks a bean method as the handler of a queue: a Kafka topic whose records are handled
 * in parallel and acknowledged one by one.
 * <p>
 * The method takes what a {@link KafkaListener} method for single records takes: the
 * payload, {@code @Header} values, a {@code Message} or a {@code ConsumerRecord}. It may
 * also take a {@link QueueContext}, or Spring Kafka's {@code Acknowledgment} for this one
 * record; with an {@code Acknowledgment} parameter the record is settled by
 * {@code acknowledge()} alone and no longer by the method's return or result. The Kafka
 * {@code Consumer} is not to be had: a method that asks for it fails start-up.
 * <p>
 * A method that takes a {@code List} of payloads, messages or consumer records gets a
 * batch of them, and no {@link QueueContext}. What is said here of a record it settles
 * for all of its records; a {@link QueueBatchException}, or Spring Kafka's
 * {@code BatchListenerFailedException}, names those that failed. After any other
 * exception each record is tried again alone.
 * <p>
 * A method that returns {@code void} settles the record when it returns. A method that
 * returns a {@code CompletionStage}, a {@code Mono}, or is a Kotlin {@code suspend}
 * function settles it when the result completes. A {@code null} future is a failure.
 * Results that nobody would await, such as a {@code Flux} or a plain {@code Future}, fail
 * start-up. Any exception is a failed attempt, also one of an {@link Error}'s kind; an
 * {@link OutOfMemoryError} stops the queue and leaves the record to be delivered again.
 * <p>
 * Every attribute but the classes of exceptions is a string so that placeholders
 * (<code>${...}</code>) and SpEL (<code>#{...}</code>) work. The value of
 * {@code kafka-queue.listeners.<id>} beats the attribute, the attribute beats
 * {@code kafka-queue.defaults}; an empty attribute says nothing.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@KafkaListener(containerFactory = QueueListener.CONTAINER_FACTORY, idIsGroup = false)
public @interface QueueListener {

	/**
	 * Name of the container factory bean that serves queues.
	 */
	String CONTAINER_FACTORY = "queueListenerContainerFactory";

	/**
	 * Name of the queue: key of {@code kafka-queue.listeners}, tag of its meters,
	 * selector of its endpoints. Unique in the application. Default: the bean class's
	 * short name and the method's name, for instance {@code billing-charge} for
	 * {@code Billing.charge}.
	 * @return the id of the queue
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "id")
	String id() default "";

	/**
	 * Id of the queue whose records of one {@link #lane()} this method handles, in place
	 * of the queue's own method. Such a method has these two attributes alone: all else
	 * is the queue's, or set under {@code lanes.named}.
	 * @return the id of another method's queue, none by default
	 */
	String queue() default "";

	/**
	 * Lane of {@link #queue()} that this method handles.
	 * @return name of the lane
	 */
	String lane() default "";

	/**
	 * Topics to consume. Exclusive with {@link #topicPattern()}.
	 * @return the topics
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "topics")
	String[] topics() default {};

	/**
	 * Pattern of the topics to consume; topics created later join when the consumer's
	 * metadata is next refreshed. Exclusive with {@link #topics()}.
	 * @return the pattern
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "topicPattern")
	String topicPattern() default "";

	/**
	 * Consumer group. Default: {@code spring.kafka.consumer.group-id}.
	 * @return the group id
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "groupId")
	String groupId() default "";

	/**
	 * Number of Kafka consumers of this listener in this process. One is enough for most:
	 * records are handled in parallel whatever the number of consumers or partitions.
	 * @return the number of consumers, 1 by default
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "concurrency")
	String concurrency() default "";

	/**
	 * Whether the queue starts with the application context.
	 * @return {@code true} or {@code false}, {@code true} by default
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "autoStartup")
	String autoStartup() default "";

	/**
	 * Kafka consumer properties of this queue, each {@code name=value}. They beat
	 * {@code spring.kafka.consumer.*}. Automatic commits are refused.
	 * @return the consumer properties
	 */
	@AliasFor(annotation = KafkaListener.class, attribute = "properties")
	String[] properties() default {};

	/**
	 * Largest number of records handled at one time, over all partitions of this queue in
	 * this process. Property: {@code dispatch.max-in-flight}.
	 * @return a number from 1, 250 by default
	 */
	String maxInFlight() default "";

	/**
	 * Largest number of records that a method with a {@code List} gets. Property:
	 * {@code batch.size}.
	 * @return a number from 1 to {@link #maxInFlight()}, 100 by default
	 */
	String batchSize() default "";

	/**
	 * Which records wait for which: see {@link Ordering}. Property: {@code ordering}.
	 * @return the ordering, {@code unordered} by default
	 */
	String ordering() default "";

	/**
	 * Longest time one attempt may take, for instance {@code 30s}. After it the attempt
	 * has failed: its thread is interrupted, its late result changes nothing. Property:
	 * {@code timeout.initial}.
	 * @return a duration above zero, 30 seconds by default
	 */
	String timeout() default "";

	/**
	 * Number of attempts before the record is dead-lettered; 1 means no retry. Property:
	 * {@code retry.local.max-attempts}.
	 * @return a number from 1, 3 by default
	 */
	String maxAttempts() default "";

	/**
	 * Exceptions that are worth another attempt; a record that fails with any other is
	 * dead-lettered at once, as by {@link #dlqFor()}. An exception counts as what it and
	 * its causes are instances of. Timeouts are tried again whatever is said here, and so
	 * are a {@link QueueRetryException} and a deserializer that lacks an answer.
	 * Property: {@code retry.retry-for}.
	 * @return the exceptions, none by default: all are tried again
	 */
	Class<? extends Throwable>[] retryFor() default {};

	/**
	 * Exceptions after which no attempt can succeed: a record that fails with one, or
	 * with one among the causes, is dead-lettered after this attempt. That is the
	 * developer's verdict, so it needs no sign that other records succeed, costs nothing
	 * of the failure budget, and says nothing to the circuit breaker. If
	 * {@link #retryFor()} matches, too, the type that is closer to the class of the
	 * exception decides; of two equally close ones this. Property: {@code retry.dlq-for}.
	 * @return the exceptions, none by default
	 */
	Class<? extends Throwable>[] dlqFor() default {};

	/**
	 * Dead-letter topic; <code>{topic}</code> stands for the topic the record came from.
	 * {@code none} switches dead-lettering off. Property: {@code dlq.topic} and
	 * {@code dlq.enabled}.
	 * @return the topic, <code>{topic}-dlq</code> by default
	 */
	String dlq() default "";

}
