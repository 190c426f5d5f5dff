package io.queuestarter.handler;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Makes of a polled record what the handler gets: key and value decoded, and headers of
 * its own, so that neither a deserializer nor a handler can alter the bytes that a dead
 * letter will carry. <em>Thread-safe.</em>
 */
public final class RecordDecoder {

	private final PartDecoder keys;

	private final PartDecoder values;

	/**
	 * Creates a decoder.
	 * @param keys decodes keys
	 * @param values decodes values
	 */
	public RecordDecoder(PartDecoder keys, PartDecoder values) {
		this.keys = keys;
		this.values = values;
	}

	/**
	 * Decodes a record.
	 * @param slot slot of the attempt that it is for
	 */
	ConsumerRecord<Object, Object> decode(ConsumerRecord<byte[], byte[]> record, int slot) {
		Headers headers = new RecordHeaders();
		// As an array, which costs nothing if there are none.
		for (Header header : record.headers().toArray()) {
			headers.add(header);
		}
		Object key = this.keys.decode(record.topic(), headers, record.key(), slot);
		Object value = this.values.decode(record.topic(), headers, record.value(), slot);
		return new ConsumerRecord<>(record.topic(), record.partition(), record.offset(), record.timestamp(),
				record.timestampType(), record.serializedKeySize(), record.serializedValueSize(), key, value, headers,
				record.leaderEpoch());
	}

}
