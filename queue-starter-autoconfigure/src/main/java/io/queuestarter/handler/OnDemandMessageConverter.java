package io.queuestarter.handler;

import java.lang.reflect.Type;

import org.apache.kafka.clients.consumer.ConsumerRecord;
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
 * more than to call them. <em>Thread-safe.</em>
 */
public final class OnDemandMessageConverter extends MessagingMessageConverter {

	@Override
	public Message<?> toMessage(ConsumerRecord<?, ?> record, @Nullable Object acknowledgment, @Nullable Object consumer,
			@Nullable Type type) {
		if (getMessagingConverter() != null) {
			return super.toMessage(record, acknowledgment, consumer, type);
		}
		// The thread tells it only while it handles the record.
		String group = KafkaUtils.getConsumerGroupId();
		return MessageBuilder.createMessage(extractAndConvertValue(record, type), new OnDemandHeaders(
				() -> of(group, super.toMessage(record, acknowledgment, consumer, type).getHeaders())));
	}

	private static MessageHeaders of(@Nullable String group, MessageHeaders headers) {
		if (headers instanceof KafkaMessageHeaders made) {
			if (group != null) {
				made.getRawHeaders().put(KafkaHeaders.GROUP_ID, group);
			}
			else {
				made.getRawHeaders().remove(KafkaHeaders.GROUP_ID);
			}
		}
		return headers;
	}

}
