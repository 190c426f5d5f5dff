package io.queuestarter.retry;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.Stage.Kind;

import static org.assertj.core.api.Assertions.assertThat;

class RetryTopicsTests {

	private final RetryTopics topics = new RetryTopics(
			List.of(new RetryTier("{topic}-10s", Duration.ofSeconds(10), 5),
					new RetryTier("{topic}-20s", Duration.ofSeconds(20), 5)),
			"{topic}-park", List.of("orders", "trips"));

	@Test
	void U20_tiersFollowEachOtherByTheirAttempts() {
		assertThat(this.topics.next("orders", 0)).isEqualTo("orders-10s");
		assertThat(this.topics.next("orders", 4)).isEqualTo("orders-10s");
		assertThat(this.topics.next("orders", 5)).isEqualTo("orders-20s");
		assertThat(this.topics.next("orders", 9)).isEqualTo("orders-20s");
		assertThat(this.topics.next("orders", 10)).isNull();
		assertThat(this.topics.next("orders", 1000)).isNull();
	}

	@Test
	void eachSourceHasTopicsOfItsOwn() {
		assertThat(this.topics.names()).containsExactly("orders-10s", "orders-20s", "orders-park", "trips-10s",
				"trips-20s", "trips-park");
		assertThat(this.topics.stage("trips-20s")).isEqualTo(new Stage("trips", Kind.RETRY, Duration.ofSeconds(20)));
		assertThat(this.topics.stage("trips")).isEqualTo(Stage.source("trips"));
		assertThat(this.topics.stage("trips").isOwn()).isFalse();
	}

	@Test
	void nothingIsParkedTwice() {
		assertThat(this.topics.park(Stage.source("orders"))).isEqualTo("orders-park");
		assertThat(this.topics.park(this.topics.stage("orders-10s"))).isEqualTo("orders-park");
		assertThat(this.topics.park(this.topics.stage("orders-park"))).isNull();
	}

	@Test
	void withoutTiersThereIsNoNext() {
		RetryTopics none = new RetryTopics(List.of(), null, List.of("orders"));

		assertThat(none.names()).isEmpty();
		assertThat(none.next("orders", 0)).isNull();
		assertThat(none.park(Stage.source("orders"))).isNull();
	}

}
