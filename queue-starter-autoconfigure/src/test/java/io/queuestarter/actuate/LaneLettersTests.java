package io.queuestarter.actuate;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.StreamSupport;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Test;

import io.queuestarter.QueueContext;
import io.queuestarter.QueueListener;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobStatus;
import io.queuestarter.jobs.JobView;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Http;
import io.queuestarter.testkit.Http.Answer;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Dead letters of lanes, as operators find, merge and replay them. The handler fails for
 * all records while it is broken, which it is in the beginning.
 */
class LaneLettersTests {

	private static final byte[] NO_TEXT = { (byte) 0xff, (byte) 0xfe, 0 };

	@Test
	void searchMergeAndPurgeTakeTheLaneThatIsNamed() {
		String topic = Broker.newTopic("letters-lane", 1);
		send(topic, "order 0", lane("prod"));
		send(topic, "order 1", lane("load-test"));
		send(topic, "order 2");
		send(topic, "order 3", lane("test"));

		try (QueueApp app = app(topic).start()) {
			DeadLetter.await(topic, 4);
			Http http = Http.actuator(app);
			handler(app).broken = false;

			Answer found = http.get("queuedlq/lanes?lane=test");
			Answer all = http.get("queuedlq/lanes");
			assertThat(found.at("/filter/lane")).isEqualTo("test");
			assertThat(lanes(found)).containsExactly("test", "test");
			assertThat(lanes(all)).containsExactlyInAnyOrder("prod", "test", "prod", "test");
			assertThat(http.get("queuedlq/lanes/" + found.at("/records/0/dlq").replace('@', '/')).at("/lane"))
				.isEqualTo("test");

			Answer plan = post(http, "action", "merge", "lane", "test");
			assertThat(plan.at("/plan/matched")).as(plan.body()).isEqualTo("2");
			JobView merge = await(app, post(http, "action", "merge", "planId", plan.at("/planId"), "dryRun", false));
			assertThat(merge.filter()).isEqualTo(Map.of("lane", "test"));
			assertThat(merge.moved()).isEqualTo(2);
			assertThat(handler(app).handled).containsExactlyInAnyOrder("test order 1", "test order 3");
			assertThat(lanes(http.get("queuedlq/lanes"))).containsExactly("prod", "prod");

			JobView purge = await(app,
					post(http, "action", "purge", "lane", "prod", "dryRun", false, "confirm", topic + "-dlq"));
			assertThat(purge.moved()).isEqualTo(2);
			assertThat(http.get("queuedlq/lanes").at("/matched")).isEqualTo("0");
			assertThat(Broker.records(topic + "-dlq")).as("marked, not deleted").hasSize(4);
		}
	}

	@Test
	void laneThatTheQueueDoesNotKnowIsRefusedWithThoseThatItDoes() {
		try (QueueApp app = app(Broker.newTopic("letters-slip", 1)).start()) {
			Http http = Http.actuator(app);

			for (String lane : List.of("tset", "Test", "load-test")) {
				for (Answer answer : List.of(http.get("queuedlq/lanes?lane=" + lane),
						post(http, "action", "merge", "lane", lane),
						post(http, "action", "purge", "lane", lane, "dryRun", false))) {
					assertThat(answer.status()).as(answer.body()).isEqualTo(400);
					assertThat(answer.at("/detail")).contains("'lane' is '" + lane + "'");
					assertThat(answer.json().at("/allowed").toString()).isEqualTo("[\"prod\",\"test\",\"unknown\"]");
				}
			}
		}
	}

	@Test
	void letterOfALaneThatIsNotServedIsRefusedListedAndStaysUnresolved() {
		String topic = Broker.newTopic("letters-foreign", 1);
		send(topic, "theirs", lane("test"));
		send(topic, "ours", lane("prod"));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod")
			.with("kafka-queue.listeners.lanes.lanes.on-foreign", "dead_letter")
			.start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 2);
			Http http = Http.actuator(app);
			handler(app).broken = false;

			JobView job = await(app, post(http, "action", "merge", "offsets", "0@0-1", "dryRun", false));

			assertThat(job.status()).isEqualTo(JobStatus.COMPLETED);
			assertThat(job.moved()).isEqualTo(1);
			assertThat(job.failed()).isEqualTo(1);
			long foreign = letters.stream()
				.filter((letter) -> letter.reason().equals("foreign_lane"))
				.findFirst()
				.orElseThrow()
				.record()
				.offset();
			assertThat(job.skippedLetters())
				.containsExactly(new JobView.Skipped(topic + "-dlq-0@" + foreign, "lane 'test' is not served here"));
			assertThat(job.lastError()).isEqualTo(topic + "-dlq-0@" + foreign + ": lane 'test' is not served here");
			assertThat(handler(app).handled).containsExactly("prod ours");
			assertThat(lanes(http.get("queuedlq/lanes"))).containsExactly("test");
		}
	}

	@Test
	void editedLetterIsJudgedByItsEditedHeaders() {
		String topic = Broker.newTopic("letters-edited", 1);
		send(topic, "first", lane("test"));
		send(topic, "second", lane("test"));
		send(topic, "third", new RecordHeader("tenancy", NO_TEXT));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod")
			.with("kafka-queue.listeners.lanes.lanes.on-foreign", "dead_letter")
			.start()) {
			DeadLetter.await(topic, 3);
			Http http = Http.actuator(app);
			handler(app).broken = false;

			assertThat(replay(app, http, "0@0", "tenancy=prod").moved()).isEqualTo(1);
			assertThat(replay(app, http, "0@1", "tenancy=load-test").failed()).isEqualTo(1);
			assertThat(replay(app, http, "0@2", "other=prod").failed()).isEqualTo(1);
			assertThat(handler(app).handled).containsExactly("prod first");

			assertThat(replay(app, http, "0@2", "tenancy").moved()).isEqualTo(1);
			assertThat(handler(app).handled).containsExactly("prod first", "prod third");
			assertThat(lanes(http.get("queuedlq/lanes"))).containsExactly("test");
		}
	}

	@Test
	void headersOfLaneAndZoneSurviveRetryTopicDeadLetterAndMerge() {
		String topic = Broker.newTopic("letters-bytes", 1);
		Header[] headers = { lane("test"), new RecordHeader("zone", NO_TEXT), new RecordHeader("zone", null) };
		send(topic, "order", headers);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.zone.header", "zone")
			.with("kafka-queue.listeners.lanes.zone.own", "east")
			.with("kafka-queue.listeners.lanes.retry.topics[0].delay", "10ms")
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			Http http = Http.actuator(app);
			handler(app).broken = false;

			assertThat(context(Broker.records(topic + "-lanes-retry-1").get(0).headers())).containsExactly(headers);
			assertThat(context(letter.record().headers())).containsExactly(headers);
			JobView copied = await(app,
					post(http, "action", "merge", "lane", "test", "target", "source", "dryRun", false));
			assertThat(copied.moved()).isEqualTo(1);
			QueueApp.eventually().until(() -> handler(app).handled.size() == 1);
			assertThat(context(Broker.records(topic).get(1).headers())).containsExactly(headers);
			assertThat(handler(app).handled).containsExactly("test order");
			assertThat(handler(app).headers).isNotEmpty()
				.allSatisfy((received) -> assertThat(context(received)).containsExactly(headers));
		}
	}

	@Test
	void bytesOfAnUnknownLaneSurviveTheDeadLetterAndTheHandlerThatServesIt() {
		String topic = Broker.newTopic("letters-unknown", 1);
		Header[] headers = { new RecordHeader("tenancy", NO_TEXT), lane("prod") };
		send(topic, "order", headers);

		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.on-foreign", "dead_letter").start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.reason()).isEqualTo("foreign_lane");
			assertThat(context(letter.record().headers())).containsExactly(headers);
			assertThat(lanes(Http.actuator(app).get("queuedlq/lanes?lane=unknown"))).containsExactly("unknown");
			assertThat(handler(app).headers).isEmpty();
		}
		try (QueueApp app = app(topic).with("kafka-queue.listeners.lanes.lanes.serve", "prod,test,unknown").start()) {
			handler(app).broken = false;
			JobView job = await(app, post(Http.actuator(app), "action", "merge", "lane", "unknown", "dryRun", false));

			assertThat(job.moved()).isEqualTo(1);
			assertThat(handler(app).handled).containsExactly("unknown order");
			assertThat(context(handler(app).headers.get(0))).containsExactly(headers);
		}
	}

	private static JobView replay(QueueApp app, Http http, String offset, String headers) {
		return await(app, post(http, "action", "replay", "offsets", offset, "headers", headers, "dryRun", false));
	}

	private static Header lane(String name) {
		return new RecordHeader("tenancy", Broker.bytes(name));
	}

	private static void send(String topic, String value, Header... headers) {
		Broker.send(new ProducerRecord<byte[], byte[]>(topic, 0, null, null, Broker.bytes(value), List.of(headers)));
	}

	/** Headers that tell lane and zone. */
	private static List<Header> context(Headers headers) {
		return Arrays.stream(headers.toArray())
			.filter((header) -> header.key().equals("tenancy") || header.key().equals("zone"))
			.<Header>map((header) -> new RecordHeader(header.key(), header.value()))
			.toList();
	}

	private static List<String> lanes(Answer found) {
		return StreamSupport.stream(found.json().at("/records").spliterator(), false)
			.map((letter) -> letter.at("/lane").asString())
			.toList();
	}

	private static Answer post(Http http, Object... parameters) {
		Map<String, Object> body = new LinkedHashMap<>();
		for (int i = 0; i < parameters.length; i += 2) {
			body.put(parameters[i].toString(), parameters[i + 1]);
		}
		return http.post("queuedlq/lanes", body);
	}

	private static JobView await(QueueApp app, Answer started) {
		assertThat(started.status()).as(started.body()).isEqualTo(202);
		DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
		String id = started.at("/job/id");
		QueueApp.eventually().until(() -> jobs.find(id).orElseThrow().status().isEnded());
		return jobs.find(id).orElseThrow();
	}

	private static Handler handler(QueueApp app) {
		return app.bean(Handler.class);
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Handler.class)
			.web()
			.with("topic", topic)
			.with("kafka-queue.listeners.lanes.retry.local.max-attempts", 1)
			.with("kafka-queue.listeners.lanes.lanes.header", "tenancy")
			.with("kafka-queue.listeners.lanes.lanes.default-lane", "prod")
			.with("kafka-queue.listeners.lanes.lanes.named.test.values", "test,load-test")
			.with("management.endpoints.web.exposure.include", "*")
			.with("management.endpoint.queuedlq.access", "unrestricted")
			.with("management.endpoint.queuedlq.cache.time-to-live", "0s");
	}

	static class Handler {

		final Collection<String> handled = new CopyOnWriteArrayList<>();

		final List<Headers> headers = new CopyOnWriteArrayList<>();

		volatile boolean broken = true;

		@QueueListener(id = "lanes", topics = "${topic}", groupId = "${topic}")
		void handle(ConsumerRecord<?, String> order, QueueContext context) {
			this.headers.add(order.headers());
			if (this.broken) {
				throw new IllegalStateException("Broken");
			}
			this.handled.add(context.lane() + " " + order.value());
		}

	}

}
