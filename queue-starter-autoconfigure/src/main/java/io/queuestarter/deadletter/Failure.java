package io.queuestarter.deadletter;

/**
 * What a dead letter tells about the end of its record.
 *
 * @param reason why it was dead-lettered
 * @param attempts number of attempts made
 * @param error what the last attempt ended with
 */
public record Failure(DeadLetterReason reason, int attempts, Throwable error) {

}
