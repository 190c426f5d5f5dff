package io.queuestarter.deadletter;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.junit.jupiter.api.Test;

import io.queuestarter.delivery.History;
import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts that a record takes along. One that was copied to a source topic by others may
 * bring counts of an earlier life, and of a name the last one is read.
 */
class DeadLetterHeadersTests {

	private final ConsumerRecord<byte[], byte[]> record = Records.record(Records.partition(0), 0, 10);

	@Test
	void countsAreWrittenToOwnTopicsAlsoIfTheyAreZero() {
		this.record.headers()
			.add(History.RETRIES, new byte[] { '9' })
			.add(History.TIMEOUTS, new byte[] { '9' })
			.add(History.ATTEMPTS, new byte[] { '9' });

		Headers headers = headers(true);

		assertThat(text(headers, History.RETRIES)).isEqualTo("0");
		assertThat(text(headers, History.TIMEOUTS)).isEqualTo("0");
		assertThat(text(headers, History.ATTEMPTS)).isEqualTo("1");
	}

	@Test
	void deadLettersTellOnlyCountsThatAreNotZero() {
		Headers headers = headers(false);

		assertThat(headers.lastHeader(History.RETRIES)).isNull();
		assertThat(headers.lastHeader(History.TIMEOUTS)).isNull();
		assertThat(text(headers, History.ATTEMPTS)).isEqualTo("1");
	}

	private Headers headers(boolean forOwnTopic) {
		Failure failure = new Failure(DeadLetterReason.HOL_CANCEL, 1, new IllegalStateException("blocks"));
		return DeadLetterHeaders.brief(new Passage(this.record, false, forOwnTopic, failure, 0, 0, 0), "orders",
				"group");
	}

	private static String text(Headers headers, String name) {
		Header header = Objects.requireNonNull(headers.lastHeader(name), name);
		return new String(header.value(), StandardCharsets.UTF_8);
	}

}
