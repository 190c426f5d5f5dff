package io.queuestarter.jobs;

import java.util.Map;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/**
 * How far the logs went when a plan was made.
 *
 * @param offsets offsets behind the last records, by partition
 * @param topics ids of the topics: to one that bears the same name later the offsets say
 * nothing
 */
public record PlanEnds(Map<TopicPartition, Long> offsets, Map<String, Uuid> topics) {

}
