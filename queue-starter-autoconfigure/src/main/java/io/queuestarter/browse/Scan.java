package io.queuestarter.browse;

import java.util.Map;

import org.apache.kafka.common.TopicPartition;

/**
 * How far a scan came.
 *
 * @param scanned records read
 * @param next offset to go on from, by partition
 * @param stoppedBy why it ended
 */
public record Scan(long scanned, Map<TopicPartition, Long> next, StoppedBy stoppedBy) {

}
