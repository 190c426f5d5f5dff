package io.queuestarter.browse;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.context.ContextRules;
import io.queuestarter.context.HeaderNames;
import io.queuestarter.deadletter.DeadLetterHeaders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LetterFilterTests {

	@Test
	void withoutAConditionEveryLetterIsMeant() {
		Map<String, String> blank = new HashMap<>(Map.of("exception", " ", "offsets", ""));
		blank.put("key", null);

		assertThat(LetterFilter.parse(blank).matches(Letters.letter().make())).isTrue();
		assertThat(LetterFilter.parse(blank).understood()).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "com.acme.Payments$Declined, true", "Payments$Declined, true", "Declined, true",
			"acme.Payments$Declined, false", "eclined, false", "com.acme.Payments, false", "IOException, true",
			"java.io.IOException, true", "ListenerExecutionFailedException, false" })
	void exceptionIsNamedWithItsPackageOrWithout(String name, boolean matches) {
		DeadLetter letter = Letters.letter()
			.header(KafkaHeaders.DLT_EXCEPTION_FQCN, "com.acme.Payments$Declined")
			.header(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, "java.io.IOException")
			.make();

		assertThat(filter("exception", name).matches(letter)).isEqualTo(matches);
	}

	@Test
	void causeOfWhatSpringWrapsIsFound() {
		DeadLetter letter = Letters.letter()
			.header(KafkaHeaders.DLT_EXCEPTION_FQCN, ListenerExecutionFailedException.class.getName())
			.header(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN, "com.acme.Declined")
			.make();

		assertThat(filter("exception", "Declined").matches(letter)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "nack, true", "NACK, true", "timeout, false", "hol-cancel, false" })
	void reasonIsOneOfOurs(String reason, boolean matches) {
		DeadLetter letter = Letters.letter().header(DeadLetterHeaders.REASON, "nack").make();

		assertThat(filter("reason", reason).matches(letter)).isEqualTo(matches);
	}

	@ParameterizedTest
	@CsvSource({ "tenant, true", "tenant=test, true", "tenant=prod, true", "tenant=, false", "tenant=te, false",
			"Tenant, false", "url=a=b, true", "empty=, true", "empty, true" })
	void headerIsPresentOrHasTheValue(String header, boolean matches) {
		DeadLetter letter = Letters.letter()
			.header("tenant", "test")
			.header("tenant", "prod")
			.header("url", "a=b")
			.header("empty", "")
			.make();

		assertThat(filter("header", header).matches(letter)).isEqualTo(matches);
	}

	@Test
	void keyIsEqual() {
		assertThat(filter("key", "straße").matches(Letters.letter().key("straße").make())).isTrue();
		assertThat(filter("key", "stra").matches(Letters.letter().key("straße").make())).isFalse();
		assertThat(filter("key", "straße").matches(Letters.letter().key(null).make())).isFalse();
	}

	@Test
	void valueContainsText() {
		assertThat(filter("contains", "ß\"").matches(Letters.letter().value("{\"a\":\"straß\"}").make())).isTrue();
		assertThat(filter("contains", "trip_1").matches(Letters.letter().value("trip_1").make())).isTrue();
		assertThat(filter("contains", "trip_10").matches(Letters.letter().value("trip_1").make())).isFalse();
		assertThat(filter("contains", "x").matches(Letters.letter().value(null).make())).isFalse();
	}

	@Test
	void timeIsFromIncludedToExcluded() {
		LetterFilter filter = LetterFilter.parse(Map.of("from", "1970-01-01T00:00:01Z", "to", "1970-01-01T00:00:02Z"));

		assertThat(filter.matches(Letters.letter().timestamp(999).make())).isFalse();
		assertThat(filter.matches(Letters.letter().timestamp(1000).make())).isTrue();
		assertThat(filter.matches(Letters.letter().timestamp(1999).make())).isTrue();
		assertThat(filter.matches(Letters.letter().timestamp(2000).make())).isFalse();
		assertThat(filter.from()).isEqualTo(Instant.ofEpochSecond(1));
	}

	@Test
	void offsetsNamePartitionsAndIfNeedBeTopics() {
		LetterFilter filter = filter("offsets", "0@88, 0@90-120,trips-dlq-1@5,cars-dlq-2@7");

		assertThat(filter.matches(Letters.at("trips-dlq", 0, 88).make())).isTrue();
		assertThat(filter.matches(Letters.at("trips-dlq", 0, 89).make())).isFalse();
		assertThat(filter.matches(Letters.at("trips-dlq", 0, 90).make())).isTrue();
		assertThat(filter.matches(Letters.at("trips-dlq", 0, 120).make())).isTrue();
		assertThat(filter.matches(Letters.at("trips-dlq", 0, 121).make())).isFalse();
		assertThat(filter.matches(Letters.at("trips-dlq", 1, 5).make())).isTrue();
		assertThat(filter.matches(Letters.at("cars-dlq", 1, 5).make())).isFalse();
		assertThat(filter.lowest(new TopicPartition("trips-dlq", 0))).hasValue(88);
		assertThat(filter.highest(new TopicPartition("trips-dlq", 0))).hasValue(120);
		assertThat(filter.admits(new TopicPartition("trips-dlq", 2))).isFalse();
		assertThat(filter.admits(new TopicPartition("cars-dlq", 2))).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "prod, false", "test, true", "unknown, false" })
	void laneIsToldByTheRulesOfTheQueue(String lane, boolean matches) {
		HeaderNames names = new HeaderNames("tenancy",
				Map.of("test", new HeaderNames.Values(List.of("load-test"), null)), ContextRules.UNKNOWN_LANE);
		ContextRules rules = new ContextRules(names, List.of("prod", "test"), "prod", List.of("prod"), null, null);
		LetterFilter filter = LetterFilter.parse(Map.of("lane", lane), rules);

		assertThat(filter.matches(Letters.letter().header("tenancy", "load-test").make())).isEqualTo(matches);
		assertThat(filter.matches(Letters.letter().make())).isEqualTo(lane.equals("prod"));
		assertThat(filter.matches(Letters.letter().header("tenancy", new byte[] { -1 }).make()))
			.isEqualTo(lane.equals("unknown"));
		assertThat(filter.understood()).isEqualTo(Map.of("lane", lane));
	}

	@Test
	void queueWithoutLanesHasTheDefaultOne() {
		assertThat(filter("lane", "default").matches(Letters.letter().make())).isTrue();
		assertThatExceptionOfType(InvalidParameterException.class).isThrownBy(() -> filter("lane", "unknown"))
			.satisfies((refusal) -> assertThat(refusal.getAllowed()).containsExactly("default"));
	}

	@Test
	void topicAndPartitionAreTheDeadLetters() {
		LetterFilter filter = LetterFilter.parse(Map.of("topic", "trips-dlq", "partition", "1"));

		assertThat(filter.matches(Letters.at("trips-dlq", 1, 0).make())).isTrue();
		assertThat(filter.matches(Letters.at("trips-dlq", 0, 0).make())).isFalse();
		assertThat(filter.matches(Letters.at("cars-dlq", 1, 0).make())).isFalse();
		assertThat(filter.admits(new TopicPartition("trips-dlq", 1))).isTrue();
		assertThat(filter.admits(new TopicPartition("trips-dlq", 0))).isFalse();
	}

	@Test
	void allConditionsMustBeFulfilled() {
		LetterFilter filter = LetterFilter.parse(Map.of("reason", "nack", "key", "a"));

		assertThat(filter.matches(Letters.letter().key("a").header(DeadLetterHeaders.REASON, "nack").make())).isTrue();
		assertThat(filter.matches(Letters.letter().key("b").header(DeadLetterHeaders.REASON, "nack").make())).isFalse();
	}

	@Test
	void understoodIsWhatCounts() {
		LetterFilter filter = LetterFilter
			.parse(Map.of("reason", "HOL-CANCEL", "partition", "01", "from", "2026-11-01T01:00:00+01:00"));

		assertThat(filter.understood())
			.isEqualTo(Map.of("reason", "hol_cancel", "partition", 1, "from", Instant.parse("2026-11-01T00:00:00Z")));
		assertThat(filter.topic()).isNull();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			reason    | naked
			header    | =value
			partition | -1
			partition | one
			partition | 9999999999
			offsets   | 88
			offsets   | 0@
			offsets   | 0@9-8
			offsets   | 0@1,,0@2
			offsets   | 0@99999999999999999999
			from      | yesterday
			to        | 2026-11-01
			from      | +1000000000-12-31T23:59:59Z
			""")
	void whatIsNotUnderstoodIsRefused(String parameter, String value) {
		assertThatExceptionOfType(InvalidParameterException.class).isThrownBy(() -> filter(parameter, value))
			.satisfies((refusal) -> {
				assertThat(refusal.getParameter()).isEqualTo(parameter);
				assertThat(refusal.getValue()).isEqualTo(value);
				assertThat(refusal.getAllowed()).isNotEmpty();
			});
	}

	@Test
	void emptySpanOfTimeIsRefused() {
		assertThatExceptionOfType(InvalidParameterException.class)
			.isThrownBy(() -> LetterFilter.parse(Map.of("from", "2026-11-01T00:00:00Z", "to", "2026-11-01T00:00:00Z")));
	}

	@Test
	void unknownConditionIsRefusedWithThoseThereAre() {
		assertThatExceptionOfType(InvalidParameterException.class).isThrownBy(() -> filter("excepton", "x"))
			.satisfies((refusal) -> assertThat(refusal.getAllowed()).isEqualTo(List.of("exception", "reason", "header",
					"key", "contains", "topic", "partition", "offsets", "from", "to", "lane")));
	}

	private static LetterFilter filter(String name, String value) {
		return LetterFilter.parse(Map.of(name, value));
	}

}
