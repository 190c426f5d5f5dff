package io.queuestarter.context;

import java.util.List;
import java.util.Map;

import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecordContextTests {

	private final ContextRules rules = new ContextRules(new HeaderNames("tenancy", Map.of(), "unknown"),
			List.of("default"), "default", List.of("default"), new HeaderNames("zone", Map.of(), null), null);

	private final Headers received = new RecordHeaders().add("zone", new byte[] { 'e', 'u' })
		.add("tenancy", new byte[] { (byte) 0xff, 0 })
		.add("tenancy", null)
		.add("other", new byte[] { 1 });

	@Test
	void headersOfLaneAndZoneAreCopiedByteForByte() {
		Headers sent = new RecordHeaders();

		this.rules.of(this.received).copy(this.received, sent);

		assertThat(sent.toArray()).containsExactly(new RecordHeader("tenancy", new byte[] { (byte) 0xff, 0 }),
				new RecordHeader("tenancy", (byte[]) null), new RecordHeader("zone", new byte[] { 'e', 'u' }));
	}

	@Test
	void headerThatIsThereAlreadyStays() {
		Headers sent = new RecordHeaders().add("tenancy", new byte[] { 2 });

		this.rules.of(this.received).copy(this.received, sent);

		assertThat(sent.toArray()).containsExactly(new RecordHeader("tenancy", new byte[] { 2 }),
				new RecordHeader("zone", new byte[] { 'e', 'u' }));
	}

	@Test
	void withoutRulesNothingIsTold() {
		Headers sent = new RecordHeaders();

		RecordContext context = ContextRules.NONE.of(this.received);
		context.copy(this.received, sent);

		assertThat(context.isTold()).isFalse();
		assertThat(sent.toArray()).isEmpty();
	}

}
