package io.queuestarter.sample;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Visa is down for 20 seconds at 100 trips a second, of which one in 100 is poison: a few
 * of each card before, while and after Visa is down. The breaker of Visa opens, and finds
 * out once in vain before it closes.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = { "outage.before=5s", "outage.seconds=20" })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DirtiesContext
class OutageStoryTests {

	private final OutageStory story;

	private @Nullable OutageReport report;

	@Autowired
	OutageStoryTests(OutageStory story) {
		this.story = story;
	}

	@BeforeAll
	void tell() throws InterruptedException {
		this.report = this.story.tell();
	}

	@Test
	void visaIsDownUnderLoad() {
		assertThat(report().down()).hasSize(2);
		assertThat(report().down().stream().mapToLong((stretch) -> stretch.charged(Card.VISA)).sum()).isLessThan(10);
		assertThat(report().before().charged(Card.VISA)).isGreaterThan(150);
		assertThat(report().poison()).hasSizeGreaterThan(15);
	}

	@Test
	void deadLettersAreExactlyThePoison() {
		assertThat(report().deadLetters()).containsExactlyInAnyOrderElementsOf(report().poison());
	}

	@Test
	void mastercardKeepsItsRate() {
		assertThat(report().rateKept()).isGreaterThan(0.8);
	}

	@Test
	void everyTripIsHandledAndCommitted() {
		assertThat(report().charged()).isEqualTo(report().sent() - report().poison().size());
		assertThat(report().committed()).isEqualTo(report().end());
	}

	@Test
	void comesOutWell() {
		assertThat(report().good()).isTrue();
	}

	private OutageReport report() {
		assertThat(this.report).isNotNull();
		return this.report;
	}

}
