package io.queuestarter.browse;

import java.math.BigInteger;
import java.time.Instant;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.retrytopic.RetryTopicHeaders;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.deadletter.DeadLetterHeaders;

import static org.assertj.core.api.Assertions.assertThat;

class DeadLetterTests {

	@Test
	void ourHeadersAreUnderstood() {
		DeadLetter letter = Letters.at("trips-dlq", 2, 88)
			.timestamp(5000)
			.header(KafkaHeaders.DLT_ORIGINAL_TOPIC, "trips")
			.header(KafkaHeaders.DLT_ORIGINAL_PARTITION, Letters.four(3))
			.header(KafkaHeaders.DLT_ORIGINAL_OFFSET, Letters.eight(1042))
			.header(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP, Letters.eight(4000))
			.header(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP, "billing-svc")
			.header(DeadLetterHeaders.LISTENER, "billing")
			.header(DeadLetterHeaders.REASON, "nack")
			.header(DeadLetterHeaders.ATTEMPTS, "3")
			.header(DeadLetterHeaders.MERGES, "2")
			.header(KafkaHeaders.DLT_EXCEPTION_FQCN, "com.acme.Declined")
			.header(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, "java.io.IOException")
			.header(KafkaHeaders.DLT_EXCEPTION_MESSAGE, "no funds")
			.make();

		assertThat(letter.partition()).isEqualTo(new TopicPartition("trips-dlq", 2));
		assertThat(letter.offset()).isEqualTo(88);
		assertThat(letter.timestamp()).isEqualTo(Instant.ofEpochMilli(5000));
		assertThat(facts(letter)).containsExactly("trips", 3, 1042L, Instant.ofEpochMilli(4000), "billing-svc",
				"billing", "nack", 3, 2, "com.acme.Declined", "java.io.IOException", "no funds");
	}

	@Test
	void headersOfSpringsRetryTopicsAreUnderstood() {
		DeadLetter letter = Letters.letter()
			.header(KafkaHeaders.ORIGINAL_TOPIC, "trips")
			.header(KafkaHeaders.ORIGINAL_PARTITION, Letters.four(3))
			.header(KafkaHeaders.ORIGINAL_OFFSET, Letters.eight(1042))
			.header(KafkaHeaders.EXCEPTION_FQCN, "com.acme.Declined")
			.header(KafkaHeaders.EXCEPTION_CAUSE_FQCN, "java.io.IOException")
			.header(KafkaHeaders.EXCEPTION_MESSAGE, "no funds")
			.header(RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS, Letters.four(4))
			.header(RetryTopicHeaders.DEFAULT_HEADER_ORIGINAL_TIMESTAMP,
					BigInteger.valueOf(1234567890123L).toByteArray())
			.make();

		assertThat(letter.originTopic()).isEqualTo("trips");
		assertThat(letter.originPartition()).isEqualTo(3);
		assertThat(letter.originOffset()).isEqualTo(1042);
		assertThat(letter.originTimestamp()).isEqualTo(Instant.ofEpochMilli(1234567890123L));
		assertThat(letter.attempts()).isEqualTo(4);
		assertThat(letter.exception()).isEqualTo("com.acme.Declined");
		assertThat(letter.cause()).isEqualTo("java.io.IOException");
		assertThat(letter.message()).isEqualTo("no funds");
	}

	@Test
	void malformedHeadersAreAbsent() {
		DeadLetter letter = Letters.letter()
			.header(KafkaHeaders.DLT_ORIGINAL_TOPIC, new byte[] { (byte) 0xc3, 0x28 })
			.header(KafkaHeaders.DLT_ORIGINAL_PARTITION, "3")
			.header(KafkaHeaders.DLT_ORIGINAL_OFFSET, Letters.four(1042))
			.header(KafkaHeaders.DLT_ORIGINAL_TIMESTAMP, Letters.eight(-1))
			.header(DeadLetterHeaders.LISTENER, (byte[]) null)
			.header(DeadLetterHeaders.REASON, "")
			.header(DeadLetterHeaders.ATTEMPTS, "many")
			.header(DeadLetterHeaders.MERGES, "-2")
			.header(RetryTopicHeaders.DEFAULT_HEADER_ATTEMPTS, new byte[9])
			.header(RetryTopicHeaders.DEFAULT_HEADER_ORIGINAL_TIMESTAMP, new byte[0])
			.make();

		assertThat(facts(letter)).containsExactly(null, null, null, null, null, null, null, 0, 0, null, null, null);
	}

	@Test
	void malformedHeaderGivesWayToTheOtherName() {
		DeadLetter letter = Letters.letter()
			.header(KafkaHeaders.DLT_ORIGINAL_OFFSET, "x")
			.header(KafkaHeaders.ORIGINAL_OFFSET, Letters.eight(7))
			.make();

		assertThat(letter.originOffset()).isEqualTo(7);
	}

	@Test
	void lastHeaderOfANameCounts() {
		DeadLetter letter = Letters.letter()
			.header(KafkaHeaders.DLT_ORIGINAL_TOPIC, "elsewhere")
			.header(KafkaHeaders.DLT_ORIGINAL_TOPIC, "trips")
			.make();

		assertThat(letter.originTopic()).isEqualTo("trips");
	}

	private static @Nullable Object[] facts(DeadLetter letter) {
		return new Object[] { letter.originTopic(), letter.originPartition(), letter.originOffset(),
				letter.originTimestamp(), letter.group(), letter.listener(), letter.reason(), letter.attempts(),
				letter.merges(), letter.exception(), letter.cause(), letter.message() };
	}

}
