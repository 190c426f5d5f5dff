package io.queuestarter.actuate;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.kafka.support.KafkaHeaders;
import tools.jackson.databind.JsonNode;

import io.queuestarter.QueueListener;
import io.queuestarter.deadletter.DeadLetterHeaders;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Http;
import io.queuestarter.testkit.Http.Answer;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Dead letters over HTTP and JMX, in an application without Spring Security. The queue
 * 'billing' has three dead letters in one topic, 'cars' has two topics without any,
 * 'none' writes none.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QueueDlqEndpointTests {

	private final String topic = Broker.newTopic("dlq-trips", 1);

	private final String one = Broker.newTopic("dlq-one", 1);

	private final String two = Broker.newTopic("dlq-two", 1);

	private final QueueApp app = start();

	private final Http http = Http.actuator(this.app);

	private QueueApp start() {
		// Whatever the age of its records.
		Broker.createTopic(this.topic + "-dlq", 1, Map.of());
		return QueueApp.of(Handlers.class)
			.web()
			.with("topic", this.topic)
			.with("one", this.one)
			.with("two", this.two)
			.with("management.endpoints.web.exposure.include", "*")
			.with("management.endpoints.jmx.exposure.include", "queuedlq")
			.with("management.endpoint.queuedlq.cache.time-to-live", "0s")
			.with("kafka-queue.metrics.dlq-depth-interval", "100ms")
			.with("spring.jmx.enabled", "true")
			.start();
	}

	@BeforeAll
	void writeDeadLetters() {
		for (String exception : List.of("com.acme.Declined", "com.acme.Expired", "com.acme.Declined")) {
			ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(this.topic + "-dlq", 0, 1_000L,
					Broker.bytes("card-7"), Broker.bytes("{\"amount\":" + "1".repeat(2000) + "}"));
			record.headers()
				.add("tenant", Broker.bytes("test"))
				.add("traceparent", Broker.bytes("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
				.add(KafkaHeaders.DLT_ORIGINAL_TOPIC, Broker.bytes(this.topic))
				.add(KafkaHeaders.DLT_ORIGINAL_PARTITION, new byte[] { 0, 0, 0, 3 })
				.add(KafkaHeaders.DLT_ORIGINAL_OFFSET, new byte[] { 0, 0, 0, 0, 0, 0, 4, 18 })
				.add(DeadLetterHeaders.LISTENER, Broker.bytes("billing"))
				.add(DeadLetterHeaders.REASON, Broker.bytes("nack"))
				.add(DeadLetterHeaders.ATTEMPTS, Broker.bytes("3"))
				.add(KafkaHeaders.DLT_EXCEPTION_FQCN, Broker.bytes(exception))
				.add(KafkaHeaders.DLT_EXCEPTION_MESSAGE, Broker.bytes("card-7 has no funds"));
			Broker.send(record);
		}
	}

	@AfterAll
	void stop() {
		this.app.close();
	}

	@Test
	void overviewTellsOfEachQueue() {
		JsonNode queues = this.http.get("queuedlq").json().at("/queues");

		assertThat(queues).hasSize(3);
		assertThat(queues.at("/0/id").asString()).isEqualTo("billing");
		assertThat(queues.at("/0/topics/0/topic").asString()).isEqualTo(this.topic + "-dlq");
		assertThat(queues.at("/0/topics/0/depth").asInt()).isEqualTo(3);
		assertThat(queues.at("/0/topics/0/oldest").asString()).isEqualTo("1970-01-01T00:00:01Z");
		assertThat(queues.at("/0/topics/0/byException/com.acme.Declined").asInt()).isEqualTo(2);
		assertThat(queues.at("/0/topics/0/byReason/nack").asInt()).isEqualTo(3);
		assertThat(queues.at("/0/topics/0/sample").asInt()).isEqualTo(3);
		assertThat(queues.at("/1/id").asString()).isEqualTo("cars");
		assertThat(queues.at("/1/topics")).hasSize(2);
		assertThat(queues.at("/2/topics")).isEmpty();
	}

	@Test
	void searchShowsWhatItFoundAndHowItWasUnderstood() {
		Answer answer = this.http.get("queuedlq/billing?exception=Declined&header=tenant%3Dtest&limit=1");

		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.at("/filter/exception")).isEqualTo("Declined");
		assertThat(answer.at("/filter/header")).isEqualTo("tenant=test");
		assertThat(answer.at("/records/0/dlq")).isEqualTo("0@0");
		assertThat(answer.at("/records/0/origin/topic")).isEqualTo(this.topic);
		assertThat(answer.at("/records/0/origin/partition")).isEqualTo("3");
		assertThat(answer.at("/records/0/origin/offset")).isEqualTo("1042");
		assertThat(answer.at("/records/0/reason")).isEqualTo("nack");
		assertThat(answer.at("/records/0/attempts")).isEqualTo("3");
		assertThat(answer.at("/records/0/exception/type")).isEqualTo("com.acme.Declined");
		assertThat(answer.at("/records/0/traceId")).isEqualTo("0af7651916cd43dd8448eb211c80319c");
		assertThat(answer.at("/matched")).isEqualTo("1");
		assertThat(answer.at("/complete")).isEqualTo("false");
		assertThat(answer.at("/stoppedBy")).isEqualTo("limit");

		Answer next = this.http.get("queuedlq/billing?exception=Declined&limit=5&cursor=" + answer.at("/nextCursor"));
		assertThat(next.json().at("/records")).hasSize(1);
		assertThat(next.at("/records/0/dlq")).isEqualTo("0@2");
		assertThat(next.at("/complete")).isEqualTo("true");
		assertThat(next.at("/stoppedBy")).isEqualTo("end");
	}

	@Test
	void whatRecordsCarryIsHiddenUnlessSaidOtherwise() {
		for (String path : List.of("queuedlq/billing?limit=1", "queuedlq/billing/0/0")) {
			Answer answer = this.http.get(path);

			assertThat(answer.status()).isEqualTo(200);
			assertThat(answer.body()).contains("\"masked\":true", "\"***\"", "com.acme.", "\"payload\":null")
				.doesNotContain("card-7", "amount", "no funds")
				.doesNotContain("\"test\"");
		}
	}

	@Test
	void textThatIsLookedForWouldTellWhatIsHidden() {
		Answer answer = this.http.get("queuedlq/billing?contains=amount");

		assertProblem(answer, 403, "queue/payloads-hidden");
		assertThat(answer.at("/hint")).contains("kafka-queue.dlq.show-payloads");
	}

	@Test
	void oneRecordIsFoundByItsPlace() {
		Answer answer = this.http.get("queuedlq/billing/0/1");

		assertThat(answer.at("/exception/type")).isEqualTo("com.acme.Expired");
		assertProblem(this.http.get("queuedlq/billing/0/99"), 404, "queue/no-record");
		assertProblem(this.http.get("queuedlq/billing/9/0"), 404, "queue/no-record");
		assertProblem(this.http.get("queuedlq/billing/zero/0"), 400, "queue/invalid-parameter");
		assertProblem(this.http.get("queuedlq/billing/0/-1"), 400, "queue/invalid-parameter");
	}

	@Test
	void topicIsSaidOnlyIfThereAreSeveral() {
		Answer answer = this.http.get("queuedlq/cars/0/0");

		assertProblem(answer, 400, "queue/ambiguous-topic");
		assertThat(answer.json().at("/allowed")).hasSize(2);
		assertProblem(this.http.get("queuedlq/cars/0/0?topic=" + this.one + "-dlq"), 404, "queue/no-record");
		assertProblem(this.http.get("queuedlq/cars/0/0?topic=other"), 400, "queue/invalid-parameter");
		assertThat(this.http.get("queuedlq/cars").status()).isEqualTo(200);
	}

	@Test
	void M5_unknownQueueIsNotFound() {
		for (String path : List.of("queuedlq/biling", "queuedlq/biling/0/0")) {
			Answer answer = this.http.get(path);

			assertProblem(answer, 404, "queue/unknown-queue");
			assertThat(answer.at("/hint")).isEqualTo("Did you mean 'billing'?");
			assertThat(answer.at("/allowed/0")).isEqualTo("billing");
		}
		assertProblem(this.http.get("queuedlq/none"), 404, "queue/no-dead-letters");
	}

	@Test
	void parameterThatDoesNotExistIsRefusedWithThoseThatDo() {
		Answer answer = this.http.get("queuedlq/billing?excepton=Declined");

		assertProblem(answer, 400, "queue/unknown-parameter");
		assertThat(answer.at("/hint")).isEqualTo("Did you mean 'exception'?");
		assertThat(answer.json().at("/allowed").toString()).contains("\"exception\"", "\"cursor\"")
			.doesNotContain("\"id\"", "securityContext");
		assertProblem(this.http.get("queuedlq?limit=3"), 400, "queue/unknown-parameter");
		assertProblem(this.http.get("queuedlq/billing/0/0?limit=3"), 400, "queue/unknown-parameter");
		assertProblem(this.http.get("queuedlq/billing?securityContext=x"), 400, "queue/unknown-parameter");
	}

	@Test
	void parameterGivenTwiceIsRefused() {
		assertProblem(this.http.get("queuedlq/billing?exception=A&exception=B"), 400, "queue/invalid-parameter");
	}

	@ParameterizedTest
	@CsvSource({ "reason, naked", "partition, one", "offsets, 88", "from, yesterday", "to, tomorrow", "limit, 0",
			"limit, 501", "limit, ten", "resolved, only", "cursor, 0:1", "topic, other" })
	void valueThatIsNotUnderstoodIsRefused(String parameter, String value) {
		Answer answer = this.http.get("queuedlq/billing?" + parameter + "=" + value);

		assertProblem(answer, 400, "queue/invalid-parameter");
		assertThat(answer.at("/detail")).contains("'" + parameter + "' is '" + value + "'");
		assertThat(answer.json().at("/allowed")).isNotEmpty();
	}

	@Test
	void M5_readingChangesNothing() {
		QueueApp.eventually().until(() -> groups().containsAll(List.of("dlq-endpoint", "dlq-endpoint-none")));
		List<String> groups = groups();

		Stream.of("queuedlq", "queuedlq/billing", "queuedlq/billing/0/0", "queuedlq/cars")
			.forEach((path) -> assertThat(this.http.get(path).status()).as(path).isIn(200, 400));

		assertThat(groups()).isEqualTo(groups);
		assertThat(Broker.committed("dlq-endpoint", this.topic + "-dlq", 0)).isNull();
		assertThat(this.http.get("queuedlq").json().at("/queues/0/topics/0/depth").asInt()).isEqualTo(3);
	}

	@Test
	void M5_nobodyMayActUnlessSaidSo() throws Exception {
		for (String action : List.of("merge", "purge", "replay")) {
			assertThat(this.http.post("queuedlq/billing", Map.of("action", action)).status()).isEqualTo(405);
		}
		assertThat(this.http.delete("queuejobs/j0").status()).isEqualTo(405);
		assertThat(this.http.get("queuedlq/billing").status()).isEqualTo(200);
		assertThat(this.http.get("queuejobs").json().at("/jobs")).isEmpty();
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		assertThat(server.getMBeanInfo(mbean(server)).getOperations()).extracting(MBeanOperationInfo::getName)
			.containsOnly("overview", "search", "find");
	}

	@Test
	void M5_sameOverJmx() throws Exception {
		MBeanServer server = ManagementFactory.getPlatformMBeanServer();
		ObjectName name = mbean(server);

		@Nullable Object[] search = new Object[16];
		search[0] = "billing";
		search[1] = "Declined";
		assertThat(invoke(server, name, "search", search)).containsEntry("matched", 2).containsEntry("complete", true);
		search[0] = "biling";
		assertThat(invoke(server, name, "search", search)).containsEntry("status", 404)
			.containsEntry("type", "queue/unknown-queue");
		search[0] = "billing";
		search[5] = "amount";
		assertThat(invoke(server, name, "search", search)).containsEntry("status", 403);
		assertThat(invoke(server, name, "find", "billing", "0", "0", null, null)).containsEntry("dlq", "0@0");
		assertThat(invoke(server, name, "overview")).containsKey("queues");
	}

	@Test
	void depthIsCountedForMetersAndTheListOfQueues() {
		QueueApp.eventually().until(() -> this.http.get("queues").at("/queues/0/dlqDepth").equals("3"));

		assertThat(this.http.get("metrics/kafka.queue.dlq.depth?tag=queue:billing").at("/measurements/0/value"))
			.startsWith("3");
		assertThat(this.http.get("metrics/kafka.queue.dlq.oldest.age?tag=queue:billing")
			.json()
			.at("/measurements/0/value")
			.asDouble()).isGreaterThan(1_000_000_000);
		assertThat(this.http.get("queues").at("/queues/1/dlqDepth")).isEqualTo("0");
		assertThat(this.http.get("queues").json().at("/queues/2/dlqDepth").isNull()).isTrue();
	}

	@Test
	void queueOfAPatternHasTheTopicsThatItReads() {
		String topic = Broker.newTopic("dlq-pattern", 1);
		try (QueueApp matching = QueueApp.of(Matching.class)
			.web()
			.with("pattern", topic)
			.with("management.endpoints.web.exposure.include", "queuedlq")
			.start()) {
			QueueApp.eventually()
				.until(() -> matching.queue("matching").deadLetterTopics().equals(Set.of(topic + "-dlq")));

			assertThat(Http.actuator(matching).get("queuedlq").at("/queues/0/topics/0/topic"))
				.isEqualTo(topic + "-dlq");
		}
	}

	@Test
	void M5_nothingIsExposedUnlessSaidSo() {
		try (QueueApp plain = QueueApp.of(Handlers.class)
			.web()
			.with("topic", this.topic)
			.with("one", this.one)
			.with("two", this.two)
			.start()) {
			for (String endpoint : List.of("queuedlq", "queuejobs")) {
				assertThat(Http.actuator(plain).get(endpoint).status()).isEqualTo(404);
			}
			assertThat(plain.context().getBeanNamesForType(QueueDlqEndpoint.class)).isEmpty();
			assertThat(plain.context().getBeanNamesForType(QueueJobsEndpoint.class)).isEmpty();
		}
	}

	private static ObjectName mbean(MBeanServer server) throws MalformedObjectNameException {
		return server.queryNames(new ObjectName("org.springframework.boot:type=Endpoint,name=Queuedlq,*"), null)
			.iterator()
			.next();
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> invoke(MBeanServer server, ObjectName name, String operation,
			@Nullable Object... arguments) throws Exception {
		String[] signature = new String[arguments.length];
		Arrays.fill(signature, "java.lang.String");
		return (Map<String, Object>) server.invoke(name, operation, arguments, signature);
	}

	private static void assertProblem(Answer answer, int status, String type) {
		assertThat(answer.status()).as(answer.body()).isEqualTo(status);
		assertThat(answer.contentType()).isEqualTo("application/problem+json");
		assertThat(answer.at("/type")).isEqualTo(type);
		assertThat(answer.at("/status")).isEqualTo(Integer.toString(status));
		assertThat(answer.at("/title")).isNotBlank();
		assertThat(answer.at("/detail")).isNotBlank();
	}

	private static List<String> groups() {
		return Broker.await(Broker.admin().listGroups().all())
			.stream()
			.map(GroupListing::groupId)
			.filter((group) -> group.startsWith("dlq-endpoint"))
			.sorted()
			.toList();
	}

	static class Matching {

		@QueueListener(id = "matching", topicPattern = "${pattern}", groupId = "dlq-endpoint-pattern")
		void matching(String trip) {
		}

	}

	static class Handlers {

		@QueueListener(id = "billing", topics = "${topic}", groupId = "dlq-endpoint")
		void billing(String trip) {
		}

		@QueueListener(id = "cars", topics = { "${one}", "${two}" }, groupId = "dlq-endpoint")
		void cars(String car) {
		}

		@QueueListener(id = "none", topics = "${one}", groupId = "dlq-endpoint-none", dlq = "none")
		void none(String car) {
		}

	}

}
