package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tells the story once, faster than to an audience: native, parallel and queue under the
 * same 20 trips a second, Visa at 600 ms a call for 5 seconds, a straggler of four times
 * that; then a poison pill. The queue goes on billing while the tests look.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "demo.calm=1s", "demo.rush=5s", "demo.slow=600ms", "demo.tick=500ms" })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StoryTests {

	private static final Duration SLOW = Duration.ofMillis(600);

	private final Story story;

	private final Stage stage;

	private final Cluster cluster;

	private final Queue queue;

	private final RestTestClient http;

	private Story.@Nullable Ending ending;

	@Autowired
	StoryTests(Story story, Stage stage, Cluster cluster, Queues queues, @LocalServerPort int port) {
		this.story = story;
		this.stage = stage;
		this.cluster = cluster;
		this.queue = queues.find("billing-queue").orElseThrow();
		this.http = RestTestClient.bindToServer().baseUrl("http://localhost:" + port).build();
	}

	@BeforeAll
	void tell() throws InterruptedException {
		this.ending = this.story.tell();
	}

	@Test
	void comesOutWell() {
		assertThat(ending().good()).isTrue();
	}

	@Test
	void nativeListenerMakesMastercardWaitAsLongAsVisa() {
		Result result = ending().of(Design.NATIVE);

		assertThat(result.visa()).isGreaterThan(SLOW.multipliedBy(2));
		assertThat(result.mastercard()).isBetween(result.visa().dividedBy(2), result.visa().multipliedBy(2));
		assertThat(result.waiting()).isGreaterThan(ending().of(Design.QUEUE).waiting());
	}

	@Test
	void batchMakesMastercardWaitForVisa() {
		Result result = ending().of(Design.PARALLEL);

		assertThat(result.mastercard()).isGreaterThan(SLOW);
		assertThat(result.freeze()).isGreaterThan(SLOW);
	}

	@Test
	void queueKeepsMastercardFast() {
		Result result = ending().of(Design.QUEUE);

		assertThat(result.mastercard()).isLessThan(SLOW.dividedBy(2));
		assertThat(result.perSecond()).isGreaterThan(ending().of(Design.NATIVE).perSecond() * 2);
	}

	@Test
	void queueSettlesAboveStragglerThenPassesIt() {
		Result result = ending().of(Design.QUEUE);

		assertThat(result.freeze()).isGreaterThan(SLOW);
		assertThat(result.above()).isGreaterThan(20);
		assertThat(result.passed()).isTrue();
	}

	@Test
	void poisonPillBecomesOneDeadLetterAndIsPassed() {
		PoisonAct.Outcome poison = ending().poison();

		// More than its three attempts if no other Visa trip was charged in between
		assertThat(poison.attempts()).isGreaterThanOrEqualTo(3);
		assertThat(this.cluster.end("trips-queue-dlq")).isOne();
		assertThat(this.queue.deadLettered()).isOne();
		assertThat(this.queue.partitions()).singleElement()
			.satisfies((partition) -> assertThat(partition.watermark()).isGreaterThan(poison.offset()));
	}

	@Test
	void endpointsTellOfTheQueue() {
		this.http.get()
			.uri("/actuator/queues")
			.exchange()
			.expectBody()
			.jsonPath("$.queues[0].id")
			.isEqualTo("billing-queue")
			.jsonPath("$.queues[0].limit")
			.isEqualTo(64);
		this.http.get().uri("/actuator/queues/billing-queue").exchange().expectStatus().isOk();
		this.http.get()
			.uri("/actuator/health")
			.exchange()
			.expectBody()
			.jsonPath("$.components.queues.components.billing-queue.status")
			.isEqualTo("UP");
		this.http.get()
			.uri("/actuator/metrics/kafka.queue.in.flight?tag=queue:billing-queue")
			.exchange()
			.expectStatus()
			.isOk();
	}

	@Test
	void changeOfLatencyTakesEffect() {
		Tally tally = this.stage.restart(Design.QUEUE, 0).tally();

		change("visa?latency=700ms");
		Instant changed = Instant.now();

		await().until(() -> tally.waits(Card.VISA, changed.plusSeconds(1)).sorted().size() > 5);
		assertThat(tally.waits(Card.VISA, changed.plusSeconds(1)).sorted().get(0))
			.isGreaterThanOrEqualTo(Duration.ofMillis(700));
		change("visa?latency=20ms");
	}

	@Test
	void takesChangeAsJson() {
		this.http.post()
			.uri("/providers/mastercard")
			.contentType(MediaType.APPLICATION_JSON)
			.body("{\"latency\": \"30ms\", \"failures\": 0}")
			.exchange()
			.expectBody()
			.jsonPath("$.latency")
			.isEqualTo("PT0.03S");
		this.http.get().uri("/providers").exchange().expectBody().jsonPath("$[1].latency").isEqualTo("PT0.03S");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					visa?latency=soon   | 400 | 'latency' must be a duration such as 50ms or 2s, not 'soon'
					visa?latency=2h     | 400 | 'latency' must be between 0s and 60s, not 2h
					visa?failures=2     | 400 | 'failures' must be a share between 0 and 1 such as 0.1, not '2'
					visa?failures=NaN   | 400 | 'failures' must be a share between 0 and 1 such as 0.1, not 'NaN'
					visa?latecy=2s      | 400 | Give 'latency' or 'failures', for instance latency=2s&failures=0.1; unknown: latecy
					amex?latency=2s     | 404 | There is no provider 'amex', only visa and mastercard
					""",
			quoteCharacter = '"')
	void refusesNonsense(String change, int status, String detail) {
		this.http.post()
			.uri("/providers/" + change)
			.exchange()
			.expectStatus()
			.isEqualTo(status)
			.expectBody()
			.jsonPath("$.detail")
			.isEqualTo(detail);
	}

	private void change(String change) {
		this.http.post().uri("/providers/" + change).exchange().expectStatus().isOk();
	}

	private Story.Ending ending() {
		assertThat(this.ending).isNotNull();
		return this.ending;
	}

}
