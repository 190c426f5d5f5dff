package io.queuestarter.browse;

import java.nio.ByteBuffer;
import java.util.Optional;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

import io.queuestarter.testkit.Broker;

/**
 * Makes dead letters without a broker. <em>Not thread-safe.</em>
 */
final class Letters {

	private final RecordHeaders headers = new RecordHeaders();

	private String topic = "trips-dlq";

	private int partition;

	private long offset;

	private long timestamp;

	private @Nullable String key;

	private @Nullable String value;

	static Letters at(String topic, int partition, long offset) {
		Letters letters = new Letters();
		letters.topic = topic;
		letters.partition = partition;
		letters.offset = offset;
		return letters;
	}

	static Letters letter() {
		return new Letters();
	}

	Letters timestamp(long millis) {
		this.timestamp = millis;
		return this;
	}

	Letters key(@Nullable String text) {
		this.key = text;
		return this;
	}

	Letters value(@Nullable String text) {
		this.value = text;
		return this;
	}

	Letters header(String name, String text) {
		this.headers.add(name, Broker.bytes(text));
		return this;
	}

	Letters header(String name, byte @Nullable [] bytes) {
		this.headers.add(name, bytes);
		return this;
	}

	DeadLetter make() {
		return DeadLetter
			.of(new ConsumerRecord<>(this.topic, this.partition, this.offset, this.timestamp, TimestampType.CREATE_TIME,
					-1, -1, Broker.bytes(this.key), Broker.bytes(this.value), this.headers, Optional.empty()));
	}

	static byte[] four(int number) {
		return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
	}

	static byte[] eight(long number) {
		return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
	}

}
