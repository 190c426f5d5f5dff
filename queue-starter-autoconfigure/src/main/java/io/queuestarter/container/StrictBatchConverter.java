package io.queuestarter.container;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Objects;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.converter.BatchMessagingMessageConverter;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.kafka.support.converter.RecordMessageConverter;

/**
 * Fails if one of the records cannot be converted, so that each is tried alone, where
 * Spring Kafka would pass {@code null} for it and leave it to the handler to notice.
 */
final class StrictBatchConverter extends BatchMessagingMessageConverter {

	StrictBatchConverter(RecordMessageConverter recordConverter) {
		super(recordConverter);
	}

	/** Adds what Spring Kafka adds to a list that it does not declare so. */
	@Override
	@SuppressWarnings("NullAway")
	protected @Nullable Object convert(ConsumerRecord<?, ?> record, Type type,
			List<ConversionException> conversionFailures) {
		Type element = ((ParameterizedType) type).getActualTypeArguments()[0];
		Object payload = Objects.requireNonNull(getRecordMessageConverter())
			.toMessage(record, null, null, element)
			.getPayload();
		conversionFailures.add(null);
		return payload;
	}

}
