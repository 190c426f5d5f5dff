package io.queuestarter.deadletter;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What the record that takes the place of another tells of it.
 *
 * @param record the record
 * @param isFromOwnTopic whether the queue wrote the topic that the record was read from
 * @param isForOwnTopic whether it goes to such a topic, where its counts are read again
 * @param failure why it goes
 * @param timeouts attempts that timed out
 * @param retries times that it rested, the next one included
 * @param merges times that it was taken out of a dead-letter topic
 */
record Passage(ConsumerRecord<byte[], byte[]> record, boolean isFromOwnTopic, boolean isForOwnTopic, Failure failure,
		int timeouts, int retries, int merges) {

}
