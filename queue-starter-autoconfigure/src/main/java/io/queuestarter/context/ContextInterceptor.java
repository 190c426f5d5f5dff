package io.queuestarter.context;

import java.util.Map;

import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

import io.queuestarter.QueueContext;

/**
 * Gives a record that a handler sends on its own thread the headers that tell lane and
 * zone of the record being handled, so that what is kept apart stays so downstream. A
 * header that it has already stays. Records that are not sent by a handler pass.
 * <p>
 * Spring Boot's producer factory has it if a queue has lanes; other producers are given
 * its name in {@code interceptor.classes}.
 *
 * @since 0.1.0
 */
public final class ContextInterceptor implements ProducerInterceptor<Object, Object> {

	/** The handler may send the same object again, for a record of another lane. */
	@Override
	public ProducerRecord<Object, Object> onSend(ProducerRecord<Object, Object> record) {
		QueueContext current = CurrentContext.get();
		if (current == null) {
			return record;
		}
		ProducerRecord<Object, Object> sent = new ProducerRecord<>(record.topic(), record.partition(),
				record.timestamp(), record.key(), record.value(), record.headers());
		current.copyTo(sent.headers());
		return sent;
	}

	@Override
	public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception exception) {
	}

	@Override
	public void close() {
	}

	@Override
	public void configure(Map<String, ?> configs) {
	}

}
