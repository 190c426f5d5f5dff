package io.queuestarter.handler;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.KafkaNull;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.SimpleKafkaHeaderMapper;
import org.springframework.kafka.support.converter.MessagingMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.MessageBuilder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OnDemandMessageConverter}.
 */
class OnDemandMessageConverterTests {

	private static final ConsumerRecord<String, @Nullable String> RECORD = record("paid");

	private final OnDemandMessageConverter converter = new OnDemandMessageConverter();

	private static ConsumerRecord<String, @Nullable String> record(@Nullable String value) {
		Headers headers = new RecordHeaders().add("tenant", "acme".getBytes(StandardCharsets.UTF_8));
		return new ConsumerRecord<>("orders", 3, 17, 1000, TimestampType.CREATE_TIME, 1, 4, "k", value, headers,
				Optional.empty());
	}

	private Message<?> convert() {
		return this.converter.toMessage(RECORD, null, null, String.class);
	}

	private static MessageHeaders ofSpringKafka() {
		return new MessagingMessageConverter().toMessage(RECORD, null, null, String.class).getHeaders();
	}

	@Test
	void everyWayToReadAHeaderSeesWhatSpringKafkaMakes() {
		MessageHeaders expected = ofSpringKafka();

		assertThat(convert().getPayload()).isEqualTo("paid");
		assertThat(new HashMap<>(convert().getHeaders())).isEqualTo(new HashMap<>(expected))
			.containsEntry(KafkaHeaders.OFFSET, 17L)
			.containsKey("tenant");
		assertThat(convert().getHeaders().get(KafkaHeaders.RECEIVED_TOPIC)).isEqualTo("orders");
		assertThat(convert().getHeaders().get(KafkaHeaders.RECEIVED_PARTITION, Integer.class)).isEqualTo(3);
		assertThat(convert().getHeaders().getOrDefault("none", "other")).isEqualTo("other");
		assertThat(convert().getHeaders().containsKey("tenant")).isTrue();
		assertThat(convert().getHeaders().containsValue("orders")).isTrue();
		assertThat(convert().getHeaders().keySet()).isEqualTo(expected.keySet());
		assertThat(convert().getHeaders().values()).hasSameSizeAs(expected.values()).contains("orders", 17L);
		assertThat(convert().getHeaders().size()).isEqualTo(expected.size());
		assertThat(convert().getHeaders().isEmpty()).isFalse();
		assertThat(convert().getHeaders().getId()).isNull();
		assertThat(convert().getHeaders().getTimestamp()).isNull();
		Map<String, Object> visited = new HashMap<>();
		convert().getHeaders().forEach(visited::put);
		assertThat(visited).hasSize(expected.size());
		assertThat(convert().toString()).contains("kafka_offset=17");
	}

	@Test
	void messageIsTheSourceOfAnotherOne() {
		Message<?> other = MessageBuilder.fromMessage(convert()).setHeader("mine", 1).build();

		assertThat(other.getHeaders()).containsEntry(KafkaHeaders.OFFSET, 17L).containsEntry("mine", 1);
	}

	@Test
	void headersAreEqualToThoseOfSpringKafka() {
		MessagingMessageConverter converter = this.converter;
		converter.setHeaderMapper(textMapper());
		MessagingMessageConverter library = new MessagingMessageConverter();
		library.setHeaderMapper(textMapper());
		MessageHeaders expected = library.toMessage(RECORD, null, null, String.class).getHeaders();

		assertThat(convert().getHeaders()).isEqualTo(expected)
			.isEqualTo(convert().getHeaders())
			.hasSameHashCodeAs(expected);
	}

	/** Byte arrays are equal to none but themselves. */
	private static SimpleKafkaHeaderMapper textMapper() {
		SimpleKafkaHeaderMapper mapper = new SimpleKafkaHeaderMapper();
		mapper.setRawMappedHeaders(Map.of("tenant", true));
		return mapper;
	}

	@Test
	void headersAreMappedOnceAndOnlyIfAsked() {
		AtomicInteger mapped = new AtomicInteger();
		this.converter.setHeaderMapper(new SimpleKafkaHeaderMapper() {

			@Override
			public void toHeaders(Headers source, Map<String, Object> target) {
				mapped.incrementAndGet();
				super.toHeaders(source, target);
			}

		});

		Message<?> message = convert();
		assertThat(message.getPayload()).isEqualTo("paid");
		assertThat(mapped).hasValue(0);

		message.getHeaders().get("tenant");
		message.getHeaders().get(KafkaHeaders.OFFSET);
		assertThat(mapped).hasValue(1);
	}

	@Test
	void groupIsThatOfTheThreadThatHandlesTheRecord() {
		KafkaUtils.setConsumerGroupId("billing");
		Message<?> message = convert();
		KafkaUtils.setConsumerGroupId("other");
		Message<?> other = convert();
		assertThat(message.getHeaders()).containsEntry(KafkaHeaders.GROUP_ID, "billing");
		KafkaUtils.clearConsumerGroupId();

		assertThat(other.getHeaders()).containsEntry(KafkaHeaders.GROUP_ID, "other");
		assertThat(convert().getHeaders()).doesNotContainKey(KafkaHeaders.GROUP_ID);
	}

	@Test
	void headersAreThoseFromBeforeTheHandlerAlteredThem() {
		ConsumerRecord<String, @Nullable String> record = record("paid");
		Message<?> message = this.converter.toMessage(record, null, null, String.class);

		record.headers().remove("tenant").add("late", new byte[0]);

		assertThat(message.getHeaders()).containsKey("tenant").doesNotContainKey("late");
	}

	@Test
	void acknowledgmentAndConsumerArePassed() {
		Message<?> message = this.converter.toMessage(RECORD, "acknowledgment", "consumer", String.class);

		assertThat(message.getHeaders()).containsEntry(KafkaHeaders.ACKNOWLEDGMENT, "acknowledgment")
			.containsEntry(KafkaHeaders.CONSUMER, "consumer");
	}

	@Test
	void headersAreSerializedAsThoseOfSpringKafkaAre() throws IOException, ClassNotFoundException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(convert().getHeaders());
		}

		try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
			assertThat((MessageHeaders) in.readObject()).containsEntry(KafkaHeaders.OFFSET, 17L);
		}
	}

	@Test
	void tombstoneIsNull() {
		assertThat(this.converter.toMessage(record(null), null, null, String.class).getPayload())
			.isSameAs(KafkaNull.INSTANCE);
	}

}
