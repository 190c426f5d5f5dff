package io.queuestarter.context;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.queuestarter.testkit.Broker;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Whatever does not stand for exactly one name is unknown.
 */
class HeaderNamesTests {

	private final HeaderNames names = new HeaderNames("tenancy",
			Map.of("prod", new HeaderNames.Values(List.of(), null), "test",
					new HeaderNames.Values(List.of("load-test"), Pattern.compile("ci-.*")), "nightly",
					new HeaderNames.Values(List.of(), Pattern.compile(".*-night"))),
			ContextRules.UNKNOWN_LANE);

	@ParameterizedTest
	@CsvSource({ "prod, prod", "load-test, test", "ci-7, test", "a-night, nightly", "test, unknown", "Prod, unknown",
			"xci-7, unknown", "ci-7-night, unknown", "'', unknown", "' prod', unknown" })
	void valueStandsForOneNameOrNone(String value, String name) {
		assertThat(nameIn(value(value))).isEqualTo(name);
	}

	@Test
	void bytesThatAreNoTextMatchNoPattern() {
		assertThat(nameIn(value(new byte[] { 'c', 'i', '-', (byte) 0xff }))).isEqualTo("unknown");
		assertThat(nameIn(value(new byte[] { (byte) 0xff, (byte) 0xfe, 0 }))).isEqualTo("unknown");
	}

	@Test
	void valueThatAPatternCannotBeAppliedToIsUnknown() {
		HeaderNames alternatives = new HeaderNames("tenancy",
				Map.of("prod", new HeaderNames.Values(List.of(), Pattern.compile("a.*")), "test",
						new HeaderNames.Values(List.of(), Pattern.compile("(a|b)*c"))),
				ContextRules.UNKNOWN_LANE);

		assertThat(alternatives.nameIn(new RecordHeaders().add(value("a".repeat(1_000_000))))).isEqualTo("unknown");
	}

	@Test
	void headerWithoutAValueIsAbsent() {
		assertThat(nameIn()).isNull();
		assertThat(nameIn(value((byte[]) null))).isNull();
		assertThat(nameIn(value((byte[]) null), value("prod"))).isEqualTo("prod");
	}

	@Test
	void severalHeadersMustNameTheSame() {
		assertThat(nameIn(value("ci-1"), value("load-test"))).isEqualTo("test");
		assertThat(nameIn(value("prod"), value("load-test"))).isEqualTo("unknown");
		assertThat(nameIn(value("prod"), value("nobody"))).isEqualTo("unknown");
	}

	private @Nullable String nameIn(Header... headers) {
		return this.names.nameIn(new RecordHeaders(headers).add("other", Broker.bytes("prod")));
	}

	private static Header value(String text) {
		return value(Broker.bytes(text));
	}

	private static Header value(byte @Nullable [] bytes) {
		return new RecordHeader("tenancy", bytes);
	}

}
