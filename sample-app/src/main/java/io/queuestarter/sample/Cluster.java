package io.queuestarter.sample;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.stereotype.Component;

/**
 * What the broker knows of topics and groups.
 */
@Component
final class Cluster implements DisposableBean {

	private final Admin admin;

	Cluster(KafkaAdmin kafkaAdmin) {
		this.admin = Admin.create(kafkaAdmin.getConfigurationProperties());
	}

	/** Moves a design's group, which must not be running, to the end of its topic. */
	void skipToEnd(Design design) {
		skipToEnd(design.group(), design.topic());
	}

	/** Moves a group, which must not be running, to the end of a topic. */
	void skipToEnd(String group, String topic) {
		OffsetAndMetadata end = new OffsetAndMetadata(end(topic));
		await(this.admin.alterConsumerGroupOffsets(group, Map.of(partition(topic), end)).all());
	}

	/** Offset that a design's group has committed. */
	long committed(Design design) {
		return committed(design.group(), design.topic());
	}

	/** Offset that a group has committed, 0 if none. */
	long committed(String group, String topic) {
		OffsetAndMetadata committed = await(this.admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
			.get(partition(topic));
		return (committed != null) ? committed.offset() : 0;
	}

	/** Offset behind the last record of a topic. */
	long end(String topic) {
		TopicPartition partition = partition(topic);
		return await(this.admin.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition))
			.offset();
	}

	/** Each topic of the story has one partition. */
	private static TopicPartition partition(String topic) {
		return new TopicPartition(topic, 0);
	}

	private static <T> T await(KafkaFuture<T> answer) {
		try {
			return answer.get(30, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw new IllegalStateException("The broker did not answer", ex);
		}
	}

	@Override
	public void destroy() {
		this.admin.close();
	}

}
