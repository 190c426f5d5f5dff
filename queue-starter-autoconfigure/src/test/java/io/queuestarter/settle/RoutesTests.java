package io.queuestarter.settle;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.queuestarter.deadletter.Destination;
import io.queuestarter.deadletter.Destination.Kind;
import io.queuestarter.delivery.Stage;
import io.queuestarter.retry.RetryTier;
import io.queuestarter.retry.RetryTopics;
import io.queuestarter.settle.Routes.Aside;

import static org.assertj.core.api.Assertions.assertThat;

class RoutesTests {

	private static final Stage SOURCE = Stage.source("orders");

	private static final Stage PARKED = new Stage("orders", Stage.Kind.PARK, Duration.ZERO);

	private static final List<RetryTier> TIERS = List.of(new RetryTier("{topic}-10s", Duration.ofSeconds(10), 2),
			new RetryTier("{topic}-20s", Duration.ofSeconds(20), 1));

	@Test
	void U11_blockedHeadGoesWhereTheSettingSays() {
		assertThat(routes(TIERS, "{topic}-dlq", Aside.DLQ).aside(SOURCE, 0))
			.isEqualTo(new Destination(Kind.DEAD_LETTER, "orders-dlq", 0));
		assertThat(routes(TIERS, "{topic}-dlq", Aside.RETRY).aside(SOURCE, 0))
			.isEqualTo(new Destination(Kind.RETRY, "orders-10s", 1));
		assertThat(routes(TIERS, "{topic}-dlq", Aside.PARK).aside(SOURCE, 1))
			.isEqualTo(new Destination(Kind.PARK, "orders-park", 1));
	}

	@Test
	void U11_blockedHeadOfTheParkTopicStays() {
		assertThat(routes(TIERS, "{topic}-dlq", Aside.PARK).aside(PARKED, 0)).isNull();
		assertThat(routes(List.of(), null, Aside.DLQ).aside(SOURCE, 0)).isNull();
	}

	@Test
	void U20_recordThatHasUsedUpItsAttemptsGoesFromTierToTierAndThenToTheDeadLetterTopic() {
		Routes routes = routes(TIERS, "{topic}-dlq", Aside.DLQ);

		assertThat(routes.afterAttempts(SOURCE, 0)).isEqualTo(new Destination(Kind.RETRY, "orders-10s", 1));
		assertThat(routes.afterAttempts(SOURCE, 2)).isEqualTo(new Destination(Kind.RETRY, "orders-20s", 3));
		assertThat(routes.afterAttempts(SOURCE, 3)).isEqualTo(new Destination(Kind.DEAD_LETTER, "orders-dlq", 3));
	}

	@Test
	void U20_withoutADeadLetterTopicItRestsInTheLastTierAgainAndAgain() {
		Routes routes = routes(TIERS, null, Aside.DLQ);

		assertThat(routes.afterAttempts(SOURCE, 3)).isEqualTo(new Destination(Kind.RETRY, "orders-20s", 4));
		assertThat(routes.afterAttempts(SOURCE, 1000)).isEqualTo(new Destination(Kind.RETRY, "orders-20s", 1001));
	}

	@Test
	void U21_withoutADeadLetterTopicARejectedRecordRests() {
		assertThat(routes(TIERS, null, Aside.DLQ).afterVerdict(SOURCE, 0))
			.isEqualTo(new Destination(Kind.RETRY, "orders-10s", 1));
		assertThat(routes(TIERS, "{topic}-dlq", Aside.DLQ).afterVerdict(SOURCE, 0))
			.isEqualTo(new Destination(Kind.DEAD_LETTER, "orders-dlq", 0));
		assertThat(routes(List.of(), null, Aside.DLQ).afterVerdict(SOURCE, 0)).isNull();
	}

	private static Routes routes(List<RetryTier> tiers, @Nullable String deadLetterTopic, Aside aside) {
		return new Routes(new RetryTopics(tiers, "{topic}-park", List.of("orders")), deadLetterTopic, aside);
	}

}
