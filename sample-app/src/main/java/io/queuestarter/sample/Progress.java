package io.queuestarter.sample;

import java.time.Duration;

/**
 * How far a listener has come in its partition.
 *
 * @param committed offset that its group has committed
 * @param watermark lowest offset that is not settled
 * @param above trips charged from there on: done, and not covered by the commit
 * @param inFlight provider calls under way
 * @param headAge age of the trip that holds the watermark
 * @param deadLetters dead letters written by the listener since the application started
 */
record Progress(long committed, long watermark, long above, int inFlight, Duration headAge, long deadLetters) {

}
