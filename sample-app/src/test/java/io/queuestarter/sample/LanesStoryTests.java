package io.queuestarter.sample;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A broken test build floods production's topic for 8 seconds, with twice its trips and
 * more than twice as many as the window holds, so that they are parked. Times are not
 * judged here, only that production goes on: the story does that, on a quiet machine.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "lanes.warm-up=3s", "lanes.before=4s", "lanes.seconds=8",
				"kafka-queue.listeners.billing-lanes.ledger.capacity=2000" })
@ActiveProfiles("lanes")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DirtiesContext
class LanesStoryTests {

	private final LanesStory story;

	private final Cluster cluster;

	private @Nullable LanesReport report;

	@Autowired
	LanesStoryTests(LanesStory story, Cluster cluster) {
		this.story = story;
		this.cluster = cluster;
	}

	@BeforeAll
	void tell() throws InterruptedException {
		this.report = this.story.tell();
	}

	@Test
	void noTripOfTheTestBuildReachesProduction() {
		assertThat(report().production().seen()).containsOnlyKeys("prod", "none");
		assertThat(report().test().seen()).containsOnlyKeys("test");
	}

	@Test
	void testLaneIsJammedMeanwhile() {
		assertThat(report().test().sent()).isGreaterThan(2_000);
		assertThat(report().isTestJammed()).isTrue();
		assertThat(report().test().mostRunning()).isBetween(2, 4);
	}

	@Test
	void productionGoesOnMeanwhile() {
		assertThat(report().rateKept()).isGreaterThan(0.5);
	}

	@Test
	void tripsThatFillTheWindowAreParked() {
		assertThat(this.cluster.end(LanesQueue.PARK_TOPIC)).isPositive();
	}

	@Test
	void everyTripOfProductionIsHandled() {
		assertThat(report().production().handled()).isEqualTo(report().production().sent());
		assertThat(report().production().deadLetters()).isZero();
	}

	@Test
	void everyTripOfTheTestBuildIsHandledOrDeadLettered() {
		assertThat(report().test().deadLetters()).isPositive();
		assertThat(report().test().handled()).isPositive();
		assertThat(report().test().lost()).isZero();
		assertThat(report().unsettled()).isZero();
	}

	private LanesReport report() {
		assertThat(this.report).isNotNull();
		return this.report;
	}

}
