package io.queuestarter.actuate;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;

import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.event.EventListener;
import org.springframework.kafka.support.KafkaHeaders;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.queuestarter.QueueContext;
import io.queuestarter.QueueListener;
import io.queuestarter.delivery.History;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.Edit;
import io.queuestarter.jobs.JobStatus;
import io.queuestarter.jobs.JobView;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Http;
import io.queuestarter.testkit.Http.Answer;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Merge, purge and replay over HTTP and JMX, in an application without Spring Security
 * that allows them. Each queue has one topic of its own, 'pair' has two. Handlers fail
 * for values that begin with "bad".
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadLetterActionsTests {

	private static final List<String> QUEUES = List.of("plans", "merging", "oneshot", "purging", "replaying", "slow",
			"audited", "managed", "pair", "pair2", "left", "right", "renewed");

	private final String prefix = Broker.newTopic("actions", 1);

	private final QueueApp app = start();

	private final Http http = Http.actuator(this.app);

	private QueueApp start() {
		for (String queue : QUEUES) {
			Broker.createTopic(topic(queue), 1, Map.of());
			Broker.createTopic(topic(queue) + "-dlq", 1, Map.of());
		}
		return QueueApp.of(Handlers.class, Audited.class)
			.web()
			.with("prefix", this.prefix)
			.with("kafka-queue.defaults.retry.local.max-attempts", 1)
			.with("kafka-queue.defaults.dispatch.max-in-flight", 4)
			.with("kafka-queue.listeners.right.dlq.topic", topic("left") + "-dlq")
			.with("management.endpoints.web.exposure.include", "*")
			.with("management.endpoint.queuedlq.access", "unrestricted")
			.with("management.endpoint.queuejobs.access", "unrestricted")
			.with("management.endpoint.queuedlq.cache.time-to-live", "0s")
			.with("management.endpoints.jmx.exposure.include", "queuedlq,queuejobs")
			.with("spring.jmx.enabled", "true")
			.start();
	}

	@AfterAll
	void stop() {
		this.app.close();
	}

	@Test
	void planTellsWhatWouldBeDoneAndNothingIsDone() {
		letter("plans", "order", "com.acme.Declined");
		letter("plans", "order", "com.acme.Declined");
		letter("plans", "order", "com.acme.Expired");
		letter("plans", "order", "com.acme.Declined", (headers) -> headers.add(History.MERGES, Broker.bytes("3")));
		letter("plans", "order", "com.acme.Declined", (headers) -> headers.remove(KafkaHeaders.DLT_ORIGINAL_TOPIC)
			.add(KafkaHeaders.DLT_ORIGINAL_TOPIC, Broker.bytes("elsewhere")));
		Broker.send(topic("plans") + "-dlq", "key", "no headers");

		Answer merge = post("plans", "action", "merge", "target", "source", "rate", 2);
		Answer filtered = post("plans", "action", "merge", "exception", "Declined", "max", 1, "dryRun", true);
		Answer marks = post("plans", "action", "purge", "deadLetterReason", "nack", "reason", "INC-7");
		Answer deletes = post("plans", "action", "purge");

		assertThat(merge.status()).as(merge.body()).isEqualTo(200);
		JsonNode plan = merge.json().at("/plan");
		assertThat(plan.at("/matched").asInt()).isEqualTo(6);
		assertThat(plan.at("/scanned").asInt()).isEqualTo(6);
		assertThat(plan.at("/complete").asBoolean()).isTrue();
		assertThat(counts(plan.at("/perException"))).isEqualTo(Map.of("com.acme.Declined", 2, "com.acme.Expired", 1));
		assertThat(counts(plan.at("/perTarget"))).isEqualTo(Map.of(topic("plans"), 3));
		assertThat(counts(plan.at("/skipped"))).isEqualTo(Map.of("max_merges", 1, "foreign_origin", 1, "no_origin", 1));
		assertThat(plan.at("/estimated").asString()).isEqualTo("PT2S");
		assertThat(merge.at("/target")).isEqualTo("source");
		assertThat(merge.json().at("/filter")).isEmpty();
		assertThat(Instant.parse(merge.at("/expiresAt"))).isBetween(Instant.now().plus(Duration.ofMinutes(9)),
				Instant.now().plus(Duration.ofMinutes(10)));
		assertThat(filtered.at("/filter/exception")).isEqualTo("Declined");
		assertThat(counts(filtered.json().at("/plan/perTarget"))).isEqualTo(Map.of("handler", 1));
		assertThat(filtered.at("/plan/estimated")).isEqualTo("PT1S");
		assertThat(marks.at("/filter/reason")).isEqualTo("nack");
		assertThat(marks.at("/deletes")).isEqualTo("false");
		assertThat(marks.json().at("/target").isNull()).isTrue();
		assertThat(deletes.at("/deletes")).isEqualTo("true");
		assertThat(counts(deletes.json().at("/plan/perTarget"))).isEqualTo(Map.of(topic("plans") + "-dlq", 6));
		assertThat(jobs("plans")).isEmpty();
		assertThat(handlers().of("plans")).isEmpty();
		assertThat(Broker.records(topic("plans"))).isEmpty();
		assertThat(groups()).doesNotContain(this.prefix + "-plans.dlq");
	}

	@Test
	void M5_requestThatIsRepeatedStartsNoSecondJob() {
		letter("merging", "order-1", "com.acme.Declined");
		letter("merging", "bad-2", "com.acme.Declined");
		letter("merging", "order-3", "com.acme.Expired");
		String plan = post("merging", "action", "merge", "exception", "Declined", "rate", 0).at("/planId");
		letter("merging", "order-4", "com.acme.Declined");

		Answer first = post("merging", "action", "merge", "planId", plan, "dryRun", false, "reason", "INC-7");
		Answer second = post("merging", "action", "merge", "planId", plan, "dryRun", false, "reason", "INC-7");
		JobView ended = await(first.at("/job/id"));
		Answer third = post("merging", "action", "merge", "planId", plan, "dryRun", false, "reason", "INC-7");

		assertThat(first.status()).as(first.body()).isEqualTo(202);
		assertThat(first.at("/job/queue")).isEqualTo("merging");
		assertThat(List.of(second.status(), third.status())).containsOnly(202);
		assertThat(List.of(second.at("/job/id"), third.at("/job/id"))).containsOnly(ended.id());
		assertThat(third.at("/job/status")).isEqualTo("COMPLETED");
		assertThat(third.at("/job/by")).isEqualTo("anonymous");
		assertThat(third.at("/job/reason")).isEqualTo("INC-7");
		assertThat(ended.moved()).isEqualTo(2);
		assertThat(ended.failedAgain()).isEqualTo(1);
		assertThat(jobs("merging")).hasSize(1);
		assertThat(handlers().of("merging")).containsExactlyInAnyOrder("order-1 1", "bad-2 1");
		assertThat(records("merging", "merge", "moved")).isEqualTo("1.0");
		assertThat(records("merging", "merge", "failed_again")).isEqualTo("1.0");
		assertThat(records("merging", "purge", "moved")).isEqualTo("0.0");

		assertProblem(post("merging", "action", "purge", "planId", plan, "dryRun", false), 404, "queue/unknown-plan");
		assertProblem(post("oneshot", "action", "merge", "planId", plan, "dryRun", false), 404, "queue/unknown-plan");
		assertProblem(post("merging", "action", "merge", "planId", "p0", "dryRun", false), 404, "queue/unknown-plan");
		for (String parameter : List.of("rate", "max", "target", "exception", "offsets", "deadLetterReason")) {
			Answer changed = post("merging", "action", "merge", "planId", plan, "dryRun", false, parameter, "5");
			assertThat(changed.at("/detail")).as(parameter).contains("'" + parameter + "' is '5'");
			assertInvalid(changed);
		}
	}

	@Test
	void mergeInOneShotTakesWhatTheFilterMatches() {
		letter("oneshot", "order-1", "com.acme.Declined");
		letter("oneshot", "order-2", "com.acme.Expired");
		letter("oneshot", "order-3", "com.acme.Declined");

		Answer answer = post("oneshot", "action", "merge", "exception", "Expired", "dryRun", false, "target",
				this.prefix);
		JobView job = await(answer.at("/job/id"));

		assertThat(answer.status()).as(answer.body()).isEqualTo(202);
		assertThat(answer.at("/job/filter/exception")).isEqualTo("Expired");
		assertThat(answer.at("/job/rate")).isEqualTo("50");
		assertThat(job.moved()).isEqualTo(1);
		assertThat(Broker.records(this.prefix)).singleElement()
			.satisfies((copy) -> assertThat(copy.value()).isEqualTo(Broker.bytes("order-2")));
		assertThat(handlers().of("oneshot")).isEmpty();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-", textBlock = """
			action=delete                                    | action
			reason=INC-7                                     | action
			action=merge target=nowhere                      | target
			action=merge target={topic}-dlq                  | target
			action=merge target=no/topic                     | target
			action=replay target={topic} offsets=0@0 value=x | target
			action=purge target=source                       | target
			action=merge dryRun=yes                          | dryRun
			action=merge dryRun=TRUE                         | dryRun
			action=merge rate=-1                             | rate
			action=merge rate=fast                           | rate
			action=merge rate=2000000                        | rate
			action=merge max=0                               | max
			action=merge planId=p1                           | planId
			action=merge planId=p1 dryRun=true               | planId
			action=merge topic=other                         | topic
			action=merge deadLetterReason=naked              | deadLetterReason
			action=merge partition=one                       | partition
			action=merge offsets=88                          | offsets
			action=merge from=yesterday                      | from
			action=merge value=x                             | value
			action=purge headers=x                           | headers
			action=replay value=x                            | offsets
			action=replay value=x offsets=0@1-3              | offsets
			action=replay value=x offsets=0@1,0@3            | offsets
			action=replay offsets=0@1                        | value
			action=replay offsets=0@1 headers==x             | headers
			action=replay offsets=0@1 headers=kafka_x=y      | headers
			""")
	void M5_whatIsNotUnderstoodIsRefusedWithWhatWouldBe(String body, String parameter) {
		Object[] parameters = Arrays.stream(body.replace("{topic}", topic("plans")).split(" "))
			.flatMap((part) -> Arrays.stream(part.split("=", 2)))
			.toArray();

		Answer answer = post("plans", parameters);

		assertInvalid(answer);
		assertThat(answer.at("/detail")).startsWith("'" + parameter + "' is ");
		assertThat(jobs("plans")).isEmpty();
	}

	/** As of a script whose variable is empty. */
	@Test
	void M5_blankFilterDoesNotMeanEverything() {
		for (String parameter : List.of("exception", "planId", "topic", "max", "confirm")) {
			Answer answer = post("plans", "action", "purge", parameter, " ", "dryRun", false);

			assertInvalid(answer);
			assertThat(answer.at("/detail")).startsWith("'" + parameter + "' is ");
		}
		assertThat(jobs("plans")).isEmpty();
	}

	@Test
	void M5_filterThatDoesNotExistIsRefused() {
		Answer answer = post("plans", "action", "merge", "excepton", "Declined", "dryRun", false);

		assertProblem(answer, 400, "queue/unknown-parameter");
		assertThat(answer.at("/hint")).isEqualTo("Did you mean 'exception'?");
		assertThat(answer.json().at("/allowed").toString()).contains("\"deadLetterReason\"", "\"confirm\"")
			.doesNotContain("\"id\"", "securityContext");
		assertProblem(post("plan", "action", "merge"), 404, "queue/unknown-queue");
		assertThat(jobs("plans")).isEmpty();
	}

	@Test
	void M5_readingStartsNothing() {
		for (String path : List.of("queuedlq/plans?action=merge&dryRun=false&confirm=" + topic("plans") + "-dlq",
				"queuedlq?action=purge", "queuejobs?action=cancel")) {
			assertProblem(this.http.get(path), 400, "queue/unknown-parameter");
		}
		assertThat(jobs("plans")).isEmpty();
	}

	@Test
	void payloadsThatAreHiddenAreNoFilter() {
		assertProblem(post("plans", "action", "merge", "contains", "order"), 403, "queue/payloads-hidden");
		assertProblem(post("plans", "action", "purge", "contains", "order", "dryRun", false), 403,
				"queue/payloads-hidden");
	}

	@Test
	void whatConcernsEverythingIsConfirmed() {
		letter("purging", "order-1", "com.acme.Declined");
		letter("purging", "order-2", "com.acme.Expired");
		String topic = topic("purging") + "-dlq";
		String plan = post("purging", "action", "purge").at("/planId");

		for (Answer answer : List.of(post("purging", "action", "purge", "dryRun", false),
				post("purging", "action", "purge", "dryRun", false, "confirm", topic),
				post("purging", "action", "purge", "dryRun", false, "planId", plan, "confirm", topic))) {
			assertProblem(answer, 409, "queue/confirm");
			assertThat(answer.at("/allowed/0")).isEqualTo("delete " + topic);
		}
		for (Answer answer : List.of(post("purging", "action", "purge", "dryRun", false, "exception", "Expired"),
				post("purging", "action", "merge", "dryRun", false),
				post("purging", "action", "merge", "dryRun", false, "topic", topic))) {
			assertProblem(answer, 409, "queue/confirm");
			assertThat(answer.at("/hint")).isEqualTo("Send \"confirm\": \"" + topic + "\" to go on.");
			assertThat(answer.at("/allowed/0")).isEqualTo(topic);
		}
		assertThat(post("pair", "action", "merge", "dryRun", false).at("/allowed/0")).isEqualTo("pair");
		assertThat(jobs("purging")).isEmpty();

		JobView marked = await(
				post("purging", "action", "purge", "dryRun", false, "exception", "Expired", "confirm", topic)
					.at("/job/id"));
		assertThat(marked.moved()).isEqualTo(1);
		assertThat(Broker.records(topic)).hasSize(2);
		JobView deleted = await(
				post("purging", "action", "purge", "dryRun", false, "planId", plan, "confirm", "delete " + topic)
					.at("/job/id"));
		assertThat(deleted.moved()).isEqualTo(2);
		assertThat(Broker.records(topic)).isEmpty();
		assertThat(records("purging", "purge", "moved")).isEqualTo("3.0");
	}

	@Test
	void planIsNotCarriedOutOnATopicThatWasCreatedAnewSince() {
		String topic = topic("renewed") + "-dlq";
		letter("renewed", "order-1", "com.acme.Declined");
		letter("renewed", "order-2", "com.acme.Declined");
		String purge = post("renewed", "action", "purge").at("/planId");
		String merge = post("renewed", "action", "merge").at("/planId");
		Broker.deleteTopic(topic);
		Broker.createTopic(topic, 1, Map.of());
		letter("renewed", "order-3", "com.acme.Declined");

		JobView purged = await(
				post("renewed", "action", "purge", "planId", purge, "dryRun", false, "confirm", "delete " + topic)
					.at("/job/id"));
		JobView merged = await(
				post("renewed", "action", "merge", "planId", merge, "dryRun", false, "confirm", topic).at("/job/id"));

		for (JobView job : List.of(purged, merged)) {
			assertThat(job.status()).isEqualTo(JobStatus.FAILED);
			assertThat(job.lastError()).contains("'" + topic + "' was deleted");
			assertThat(job.moved()).isZero();
		}
		assertThat(Broker.records(topic)).hasSize(1);
		assertThat(handlers().of("renewed")).isEmpty();
	}

	@Test
	void whatAnotherQueueMayStillNeedIsNotDeleted() {
		letter("left", "order-1", "com.acme.Declined");
		String topic = topic("left") + "-dlq";
		for (String queue : List.of("left", "right")) {
			String other = queue.equals("left") ? "right" : "left";
			Answer plan = post(queue, "action", "purge");
			assertThat(plan.at("/plan/obstacles/" + topic)).as(plan.body())
				.isEqualTo("holds dead letters of queue '" + other + "'");

			assertProblem(post(queue, "action", "purge", "dryRun", false, "confirm", "delete " + topic), 409,
					"queue/shared-topic");
			assertProblem(post(queue, "action", "purge", "dryRun", false, "confirm", "delete " + topic, "planId",
					plan.at("/planId")), 409, "queue/shared-topic");
		}
		JobView marked = await(
				post("left", "action", "purge", "dryRun", false, "exception", "Declined", "confirm", topic)
					.at("/job/id"));

		assertThat(marked.moved()).isEqualTo(1);
		assertThat(Broker.records(topic)).hasSize(1);
		assertThat(this.http.get("queuedlq/left").at("/matched")).isEqualTo("0");
		assertThat(this.http.get("queuedlq/right").at("/matched")).isEqualTo("1");
	}

	@Test
	void oneRecordIsReplayedWithAnotherValueAndOtherHeaders() {
		letter("replaying", "bad-1", "com.acme.Declined");
		letter("replaying", "bad-2", "com.acme.Declined",
				(headers) -> headers.add("tenant", Broker.bytes("red")).add("trace", Broker.bytes("7")));
		letter("replaying", "bad-3", "com.acme.Declined");

		Answer plan = post("replaying", "action", "replay", "offsets", "0@1", "value", "good-2");
		assertThat(plan.at("/plan/matched")).as(plan.body()).isEqualTo("1");
		Answer answer = post("replaying", "action", "replay", "offsets", "0@1", "target", "source", "value", "good-2",
				"headers", "tenant=blue\ntrace\n\nfixed = by ana", "dryRun", false);
		JobView job = await(answer.at("/job/id"));

		assertThat(answer.status()).as(answer.body()).isEqualTo(202);
		assertThat(job.moved()).isEqualTo(1);
		assertThat(job.edited()).containsExactly("value", "header tenant", "header trace", "header fixed");
		ConsumerRecord<byte[], byte[]> copy = Broker.records(topic("replaying")).get(0);
		assertThat(copy.value()).isEqualTo(Broker.bytes("good-2"));
		assertThat(header(copy, "tenant")).isEqualTo("blue");
		assertThat(header(copy, "trace")).isNull();
		assertThat(header(copy, "fixed")).isEqualTo(" by ana");
		assertThat(header(copy, Edit.EDITED_FROM)).isEqualTo(topic("replaying") + "-dlq-0@1");
		QueueApp.eventually().until(() -> handlers().of("replaying").contains("good-2 1"));

		String id = post("replaying", "action", "replay", "offsets", topic("replaying") + "-dlq-0@2", "value", "",
				"dryRun", false)
			.at("/job/id");
		assertThat(await(id).moved()).isEqualTo(1);
		assertThat(handlers().of("replaying")).containsExactly("good-2 1", " 1");
		assertThat(Broker.records(topic("replaying") + "-dlq")).extracting((record) -> new String(record.value()))
			.containsExactly("bad-1", "bad-2", "bad-3");
		assertThat(this.http.get("queuedlq/replaying").at("/matched")).isEqualTo("1");
	}

	@Test
	void replayOfWhatIsNotThereFails() {
		JobView job = await(post("replaying", "action", "replay", "offsets", "0@4711", "value", "x", "dryRun", false)
			.at("/job/id"));

		assertThat(job.status()).isEqualTo(JobStatus.FAILED);
		assertThat(job.lastError()).startsWith("There is no such dead letter");
	}

	@Test
	void recordOfOneOfSeveralTopicsIsReplayedOnlyIfTheTopicIsNamed() {
		letter("pair", "bad", "com.acme.Declined");
		letter("pair2", "bad", "com.acme.Declined");

		Answer ambiguous = post("pair", "action", "replay", "offsets", "0@0", "value", "good", "dryRun", false);
		assertInvalid(ambiguous);
		assertThat(ambiguous.json().at("/allowed").toString()).contains(topic("pair") + "-dlq-0@88",
				topic("pair2") + "-dlq-0@88");
		for (Answer named : List
			.of(post("pair", "action", "replay", "offsets", topic("pair2") + "-dlq-0@0", "value", "good"), post("pair",
					"action", "replay", "offsets", "0@0", "topic", topic("pair2") + "-dlq", "value", "good"))) {
			assertThat(named.at("/plan/matched")).as(named.body()).isEqualTo("1");
		}
	}

	@Test
	void M5_secondJobIsToldOfTheFirstWhichCanBeCancelled() {
		for (int number = 0; number < 20; number++) {
			letter("slow", "order-" + number, "com.acme.Declined");
		}
		Object[] body = { "action", "merge", "exception", "Declined", "rate", 2, "dryRun", false };

		String id = post("slow", body).at("/job/id");
		Answer second = post("slow", body);
		assertProblem(second, 409, "queue/job-running");
		assertThat(second.at("/job")).isEqualTo(id);
		assertThat(active("slow")).isEqualTo("1.0");
		QueueApp.eventually().until(() -> !this.http.get("queuejobs/" + id).at("/moved").equals("0"));

		assertProblem(this.http.delete("queuejobs/" + id + "?force=true"), 400, "queue/unknown-parameter");
		Answer cancel = this.http.delete("queuejobs/" + id);
		assertThat(cancel.status()).as(cancel.body()).isEqualTo(202);
		assertThat(cancel.at("/status")).isIn("CANCELLING", "CANCELLED");
		await(id);

		JsonNode job = this.http.get("queuejobs/" + id).json();
		assertThat(job.at("/status").asString()).isEqualTo("CANCELLED");
		assertThat(job.at("/moved").asInt()).isBetween(1, 19).isEqualTo(handlers().of("slow").size());
		assertThat(job.at("/snapshotEnd").get(topic("slow") + "-dlq-0").asInt()).isEqualTo(20);
		assertThat(job.at("/position").get(topic("slow") + "-dlq-0").asInt()).isEqualTo(job.at("/moved").asInt());
		assertThat(active("slow")).isEqualTo("0.0");
		assertThat(this.http.get("queuejobs").at("/jobs/0/instance"))
			.isEqualTo(this.http.get("queuejobs").at("/instance"));
		assertThat(jobs("slow")).containsExactly(id);
		Answer again = this.http.delete("queuejobs/" + id);
		assertProblem(again, 409, "queue/job-ended");
		assertThat(again.at("/detail")).contains("CANCELLED");
		assertProblem(this.http.get("queuejobs/j0"), 404, "queue/unknown-job");
		assertProblem(this.http.delete("queuejobs/j0"), 404, "queue/unknown-job");
		assertThat(this.http.post("queuejobs/" + id, Map.of("action", "cancel")).status()).isEqualTo(405);
	}

	@Test
	void auditTrailTellsWhoDidWhatAndWhy() {
		letter("audited", "order-1", "com.acme.Declined");
		letter("audited", "bad-2", "com.acme.Declined");
		for (int number = 3; number < 20; number++) {
			letter("audited", "order-" + number, "com.acme.Expired");
		}

		String merge = post("audited", "action", "merge", "exception", "Declined", "dryRun", false, "reason", "INC-7")
			.at("/job/id");
		await(merge);
		String slow = post("audited", "action", "merge", "exception", "Expired", "rate", 1, "dryRun", false)
			.at("/job/id");
		this.http.delete("queuejobs/" + slow);
		await(slow);

		Audited audited = this.app.bean(Audited.class);
		QueueApp.eventually().until(() -> audited.of(merge).size() == 2 && audited.of(slow).size() == 3);
		AuditEvent begun = audited.of(merge).get(0);
		assertThat(begun.getType()).isEqualTo("QUEUE_JOB_STARTED");
		assertThat(begun.getPrincipal()).isEqualTo("anonymous");
		assertThat(begun.getData()).containsEntry("queue", "audited")
			.containsEntry("action", "MERGE")
			.containsEntry("reason", "INC-7")
			.containsEntry("target", "handler")
			.containsEntry("filter", Map.of("exception", "Declined"))
			.containsEntry("moved", 0L);
		AuditEvent over = audited.of(merge).get(1);
		assertThat(over.getType()).isEqualTo("QUEUE_JOB_ENDED");
		assertThat(over.getData()).containsEntry("status", "COMPLETED")
			.containsEntry("moved", 2L)
			.containsEntry("failedAgain", 1L)
			.containsEntry("failed", 0L)
			.containsEntry("reason", "INC-7");
		assertThat(audited.of(slow)).extracting(AuditEvent::getType)
			.containsExactly("QUEUE_JOB_STARTED", "QUEUE_JOB_CANCELLED", "QUEUE_JOB_ENDED");
		assertThat(audited.of(slow).get(2).getData()).containsEntry("status", "CANCELLED");
	}

	@Test
	void M5_sameOverJmx() throws Exception {
		letter("managed", "order-1", "com.acme.Declined");
		@Nullable Object[] arguments = new Object[23];
		arguments[0] = "managed";
		arguments[1] = "merge";
		arguments[11] = "Declined";

		Map<String, Object> plan = invoke("Queuedlq", "act", arguments);
		assertThat(plan).containsEntry("action", "merge").containsKey("planId");
		assertThat(invoke("Queuejobs", "find", "j0")).containsEntry("type", "queue/unknown-job");
		arguments[2] = "false";
		Map<String, Object> started = invoke("Queuedlq", "act", arguments);
		String id = String.valueOf(((Map<?, ?>) Objects.requireNonNull(started.get("job"))).get("id"));
		assertThat(await(id).moved()).isEqualTo(1);
		arguments[11] = null;
		assertThat(invoke("Queuedlq", "act", arguments)).containsEntry("type", "queue/confirm");
		assertThat(invoke("Queuejobs", "cancel", id, null)).containsEntry("type", "queue/job-ended");
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> invoke(String endpoint, String operation, @Nullable Object... arguments)
			throws Exception {
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		ObjectName name = server
			.queryNames(new ObjectName("org.springframework.boot:type=Endpoint,name=" + endpoint + ",*"), null)
			.iterator()
			.next();
		return (Map<String, Object>) server.invoke(name, operation, arguments,
				Collections.nCopies(arguments.length, "java.lang.String").toArray(new String[0]));
	}

	private String topic(String queue) {
		return this.prefix + "-" + queue;
	}

	private void letter(String queue, String value, String exception) {
		letter(queue, value, exception, (headers) -> {
		});
	}

	private void letter(String queue, String value, String exception, Consumer<Headers> more) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic(queue) + "-dlq", 0, Broker.bytes("key"),
				Broker.bytes(value));
		record.headers()
			.add(KafkaHeaders.DLT_ORIGINAL_TOPIC, Broker.bytes(topic(queue)))
			.add(KafkaHeaders.DLT_EXCEPTION_FQCN, Broker.bytes(exception));
		more.accept(record.headers());
		Broker.send(record);
	}

	private Answer post(String queue, Object... parameters) {
		Map<String, Object> body = new LinkedHashMap<>();
		for (int i = 0; i < parameters.length; i += 2) {
			body.put(parameters[i].toString(), parameters[i + 1]);
		}
		return this.http.post("queuedlq/" + queue, body);
	}

	private JobView await(String id) {
		DeadLetterJobs jobs = this.app.bean(DeadLetterJobs.class);
		QueueApp.eventually().until(() -> jobs.find(id).orElseThrow().status().isEnded());
		return jobs.find(id).orElseThrow();
	}

	private List<String> jobs(String queue) {
		return StreamSupport.stream(this.http.get("queuejobs").json().at("/jobs").spliterator(), false)
			.filter((job) -> job.at("/queue").asString().equals(queue))
			.map((job) -> job.at("/id").asString())
			.toList();
	}

	private String records(String queue, String action, String result) {
		return meter("kafka.queue.job.records?tag=queue:" + queue + "&tag=action:" + action + "&tag=result:" + result);
	}

	private String active(String queue) {
		return meter("kafka.queue.jobs.active?tag=queue:" + queue);
	}

	private String meter(String query) {
		return this.http.get("metrics/" + query).at("/measurements/0/value");
	}

	private Handlers handlers() {
		return this.app.bean(Handlers.class);
	}

	private static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
		Header header = record.headers().lastHeader(name);
		return (header != null) ? new String(header.value()) : null;
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Integer> counts(JsonNode node) {
		return JsonMapper.shared().convertValue(node, Map.class);
	}

	private static void assertInvalid(Answer answer) {
		assertProblem(answer, 400, "queue/invalid-parameter");
		assertThat(answer.json().at("/allowed")).as(answer.body()).isNotEmpty();
	}

	private static void assertProblem(Answer answer, int status, String type) {
		assertThat(answer.status()).as(answer.body()).isEqualTo(status);
		assertThat(answer.contentType()).isEqualTo("application/problem+json");
		assertThat(answer.at("/type")).isEqualTo(type);
		assertThat(answer.at("/detail")).isNotBlank();
	}

	private static List<String> groups() {
		return Broker.await(Broker.admin().listGroups().all()).stream().map(GroupListing::groupId).toList();
	}

	/** Notes values as it is called with them, with the number of merges. */
	static class Handlers {

		private final List<String> handled = new CopyOnWriteArrayList<>();

		List<String> of(String queue) {
			return this.handled.stream()
				.filter((call) -> call.startsWith(queue + ":"))
				.map((call) -> call.substring(queue.length() + 1))
				.toList();
		}

		@QueueListener(id = "plans", topics = "${prefix}-plans", groupId = "${prefix}-plans")
		void plans(String value, QueueContext context) {
			handle("plans", value, context);
		}

		@QueueListener(id = "merging", topics = "${prefix}-merging", groupId = "${prefix}-merging")
		void merging(String value, QueueContext context) {
			handle("merging", value, context);
		}

		@QueueListener(id = "oneshot", topics = "${prefix}-oneshot", groupId = "${prefix}-oneshot")
		void oneshot(String value, QueueContext context) {
			handle("oneshot", value, context);
		}

		@QueueListener(id = "purging", topics = "${prefix}-purging", groupId = "${prefix}-purging")
		void purging(String value, QueueContext context) {
			handle("purging", value, context);
		}

		@QueueListener(id = "replaying", topics = "${prefix}-replaying", groupId = "${prefix}-replaying")
		void replaying(String value, QueueContext context) {
			handle("replaying", value, context);
		}

		@QueueListener(id = "slow", topics = "${prefix}-slow", groupId = "${prefix}-slow")
		void slow(String value, QueueContext context) {
			handle("slow", value, context);
		}

		@QueueListener(id = "audited", topics = "${prefix}-audited", groupId = "${prefix}-audited")
		void audited(String value, QueueContext context) {
			handle("audited", value, context);
		}

		@QueueListener(id = "managed", topics = "${prefix}-managed", groupId = "${prefix}-managed")
		void managed(String value, QueueContext context) {
			handle("managed", value, context);
		}

		@QueueListener(id = "renewed", topics = "${prefix}-renewed", groupId = "${prefix}-renewed")
		void renewed(String value, QueueContext context) {
			handle("renewed", value, context);
		}

		@QueueListener(id = "left", topics = "${prefix}-left", groupId = "${prefix}-left")
		void left(String value, QueueContext context) {
			handle("left", value, context);
		}

		@QueueListener(id = "right", topics = "${prefix}-right", groupId = "${prefix}-right")
		void right(String value, QueueContext context) {
			handle("right", value, context);
		}

		@QueueListener(id = "pair", topics = { "${prefix}-pair", "${prefix}-pair2" }, groupId = "${prefix}-pair")
		void pair(String value, QueueContext context) {
			handle("pair", value, context);
		}

		private void handle(String queue, String value, QueueContext context) {
			this.handled.add(queue + ":" + value + " " + context.mergeCount());
			if (value.startsWith("bad")) {
				throw new IllegalStateException("cannot handle it");
			}
		}

	}

	/** Keeps audit events. */
	static class Audited {

		private final List<AuditEvent> events = new CopyOnWriteArrayList<>();

		List<AuditEvent> of(String job) {
			return this.events.stream().filter((event) -> job.equals(event.getData().get("job"))).toList();
		}

		@EventListener
		void keep(AuditApplicationEvent event) {
			this.events.add(event.getAuditEvent());
		}

	}

}
