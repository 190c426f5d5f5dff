package io.queuestarter.handler;

import java.lang.reflect.Type;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.converter.KafkaMessageHeaders;
import org.springframework.kafka.support.converter.MessagingMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.MessageBuilder;

/**
 * Makes the messages that Spring Kafka's own converter makes, but their headers only when
 * somebody reads them: most handlers take the value alone, and to fill the headers costs
 * more than to call them. So headers that cannot be mapped fail only a handler that reads
 * them. <em>Thread-safe.</em>
 */
public final class OnDemandMessageConverter extends MessagingMessageConverter {

	@Override
	public Message<?> toMessage(ConsumerRecord<?, ?> record, @Nullable Object acknowledgment, @Nullable Object consumer,
			@Nullable Type type) {
		// The thread tells it only while it handles the record, and a handler may alter
		// the record's headers.
		String group = KafkaUtils.getConsumerGroupId();
		Header[] headers = record.headers().toArray();
		return MessageBuilder.createMessage(extractAndConvertValue(record, type), new OnDemandHeaders(
				() -> of(group, super.toMessage(with(headers, record), acknowledgment, consumer, type).getHeaders())));
	}

	private static <K, V> ConsumerRecord<K, V> with(Header[] headers, ConsumerRecord<K, V> record) {
		return new ConsumerRecord<>(record.topic(), record.partition(), record.offset(), record.timestamp(),
				record.timestampType(), record.serializedKeySize(), record.serializedValueSize(), record.key(),
				record.value(), new RecordHeaders(headers), record.leaderEpoch());
	}

	private static MessageHeaders of(@Nullable String group, MessageHeaders headers) {
		if (group != null && headers instanceof KafkaMessageHeaders made) {
			made.getRawHeaders().put(KafkaHeaders.GROUP_ID, group);
		}
		return headers;
	}

}
