package io.queuestarter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.kafka.support.converter.StringJacksonJsonMessageConverter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

import io.queuestarter.container.QueueState;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.LogLines;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Methods that take a list. Records are sent before the queue starts, and batches linger,
 * so that those of a test meet in one; each test tells who ends how, and that the group
 * commits the offset behind all.
 */
@Tag("threads")
class BatchHandlerTests {

	@Test
	void recordsOfAllPartitionsAreHandledTogetherUpToTheSize() {
		String topic = Broker.newTopic("batch", 3);
		Broker.sendNumbers(topic, 3, 500);

		try (QueueApp app = app(Payloads.class, topic).with("kafka-queue.listeners.batch.batch.size", 20).start()) {
			Payloads handler = app.bean(Payloads.class);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 500);

			assertThat(handler.values()).hasSize(500).doesNotHaveDuplicates();
			assertThat(handler.batches).allMatch((batch) -> batch.size() <= 20)
				.filteredOn((batch) -> batch.size() == 20)
				.hasSizeGreaterThan(10);
			assertThat(app.queue("batch").outcomes().acknowledgedCount()).isEqualTo(500);
		}
	}

	@Test
	void moreRecordsThanAreInFlightAreNeverHandledTogether() {
		String topic = Broker.newTopic("batch-slots", 1);
		Broker.sendNumbers(topic, 1, 100);

		try (QueueApp app = app(Payloads.class, topic).with("kafka-queue.listeners.batch.dispatch.max-in-flight", 7)
			.start()) {
			Payloads handler = app.bean(Payloads.class);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 100);

			assertThat(handler.values()).hasSize(100).doesNotHaveDuplicates();
			assertThat(handler.batches).extracting(List::size).allMatch((size) -> size <= 7).contains(7);
		}
	}

	@Test
	void batchBeginsWhenItIsFullAndWaitsNoLongerThanItsLinger() {
		String topic = Broker.newTopic("batch-linger", 1);
		Broker.send(topic, null, "a");

		try (QueueApp app = app(Payloads.class, topic).with("kafka-queue.listeners.batch.batch.size", 3)
			.with("kafka-queue.listeners.batch.batch.linger", "1m")
			.start()) {
			Payloads handler = app.bean(Payloads.class);
			QueueApp.eventually().until(() -> app.queue("batch").inFlight() == 1);
			Broker.send(topic, null, "b");
			QueueApp.eventually().until(() -> app.queue("batch").inFlight() == 2);
			assertThat(handler.batches).isEmpty();
			Broker.send(topic, null, "c");
			QueueApp.eventually().until(() -> handler.batches.size() == 1);

			assertThat(handler.batches).containsExactly(List.of("a", "b", "c"));
		}
		Broker.send(topic, null, "d");
		try (QueueApp app = app(Payloads.class, topic).with("kafka-queue.listeners.batch.batch.linger", "10ms")
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 4);

			assertThat(app.bean(Payloads.class).batches).containsExactly(List.of("d"));
		}
	}

	@Test
	void recordsThatLingerWhenTheQueueStopsAreDeliveredAgain() {
		String topic = Broker.newTopic("batch-stop", 1);
		Broker.send(topic, null, "a");

		try (QueueApp app = app(Payloads.class, topic).with("kafka-queue.listeners.batch.batch.linger", "1m").start()) {
			Payloads handler = app.bean(Payloads.class);
			QueueApp.eventually().until(() -> app.queue("batch").inFlight() == 1);

			long begun = System.nanoTime();
			app.close();
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(8));
			assertThat(handler.batches).isEmpty();
		}
		try (QueueApp app = app(Payloads.class, topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 1);
		}
	}

	@Test
	void namedRecordFailsByItsOwnPolicyThoseBeforeAreHandledAndThoseBehindRunAgain() {
		String topic = send("batch-named", "a", "bad", "b", "c");

		try (QueueApp app = app(FailingUpTo.class, topic).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 4);

			assertThat(letter.value()).isEqualTo("bad");
			assertThat(letter.attempts()).isEqualTo(3);
			assertThat(letter.reason()).isEqualTo("retries_exhausted");
			assertThat(letter.exception()).isEqualTo(IllegalStateException.class.getName());
			List<List<String>> batches = app.bean(FailingUpTo.class).batches;
			assertThat(batches.get(0)).containsExactly("a", "bad", "b", "c");
			assertThat(batches).filteredOn((batch) -> batch.contains("a")).hasSize(1);
			assertThat(batches).filteredOn((batch) -> batch.contains("bad")).hasSize(3);
			assertThat(batches).contains(List.of("b", "c"));
			assertThat(app.queue("batch").outcomes().acknowledgedCount()).isEqualTo(3);
		}
	}

	@Test
	void recordsBehindANamedOneHaveUsedUpNoAttempt() {
		String topic = send("batch-behind", "bad 1", "bad 2", "bad 3");

		try (QueueApp app = app(FailingUpTo.class, topic).start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 3);

			assertThat(letters).extracting(DeadLetter::value).containsExactlyInAnyOrder("bad 1", "bad 2", "bad 3");
			assertThat(letters).extracting(DeadLetter::attempts).containsOnly(3);
			assertThat(app.bean(FailingUpTo.class).batches).contains(List.of("bad 1", "bad 2", "bad 3"),
					List.of("bad 2", "bad 3"));
		}
	}

	@Test
	void recordsThatTheExceptionDoesNotNameAreHandled() {
		String topic = send("batch-result", "a", "bad", "b", "reject", "c", "later");

		try (QueueApp app = app(NamingFailures.class, topic).start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 2);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 6);

			assertThat(letters).extracting(DeadLetter::value, DeadLetter::reason, DeadLetter::attempts)
				.containsExactlyInAnyOrder(tuple("bad", "retries_exhausted", 3), tuple("reject", "nack", 1));
			List<List<String>> batches = app.bean(NamingFailures.class).batches;
			assertThat(batches.get(0)).hasSize(6);
			assertThat(batches).filteredOn((batch) -> batch.contains("a") || batch.contains("b") || batch.contains("c"))
				.hasSize(1);
			assertThat(batches).filteredOn((batch) -> batch.contains("later")).hasSize(2);
		}
	}

	@Test
	void afterAnyOtherExceptionEachRecordIsTriedAloneAndNoneHasUsedUpAnAttempt() {
		String topic = send("batch-whole", "a", "bad", "b");

		try (QueueApp app = app(FailingWhole.class, topic)
			.with("kafka-queue.listeners.batch.retry.local.max-attempts", 1)
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(letter.value()).isEqualTo("bad");
			assertThat(letter.attempts()).isOne();
			assertThat(app.bean(FailingWhole.class).batches).containsExactlyInAnyOrder(List.of("a", "bad", "b"),
					List.of("a"), List.of("bad"), List.of("b"));
			assertThat(Broker.records(topic + "-dlq")).hasSize(1);
		}
	}

	@Test
	void failedBatchSaysNothingToTheCircuitBreaker() {
		String[] values = IntStream.range(0, 60).mapToObj((number) -> "a" + number).toArray(String[]::new);
		values[30] = "bad";
		String topic = send("batch-breaker", values);

		try (QueueApp app = app(FailingWhole.class, topic, UnforgivingBreakers.class)
			.with("kafka-queue.listeners.batch.circuit-breaker.enabled", "true")
			.start()) {
			assertThat(DeadLetter.awaitOne(topic).value()).isEqualTo("bad");
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 60);

			assertThat(app.bean(FailingWhole.class).batches.get(0)).hasSize(60);
			assertThat(app.queue("batch").circuitStates()).allMatch((state) -> state.state().equals("CLOSED"));
		}
	}

	@Test
	void recordsOfABatchThatHangsAreTriedAlone() {
		String topic = send("batch-hang", "a", "hang", "b");

		try (QueueApp app = app(Hanging.class, topic).with("kafka-queue.listeners.batch.timeout.initial", "300ms")
			.with("kafka-queue.listeners.batch.timeout.max-count", 1)
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(letter.value()).isEqualTo("hang");
			assertThat(letter.reason()).isEqualTo("timeout");
			assertThat(letter.attempts()).isOne();
			Hanging handler = app.bean(Hanging.class);
			assertThat(handler.batches).containsExactlyInAnyOrder(List.of("a", "hang", "b"), List.of("a"),
					List.of("hang"), List.of("b"));
			assertThat(handler.interrupted).hasSize(2);
		}
	}

	@Test
	void recordsOfABatchThatHoldsAFullWindowAreNotMovedAsideForTheOneAmongThem() {
		String topic = send("batch-head", "a", "hang");

		try (QueueApp app = app(Hanging.class, topic).with("kafka-queue.listeners.batch.timeout.initial", "2s")
			.with("kafka-queue.listeners.batch.batch.size", 2)
			.with("kafka-queue.listeners.batch.blocking.enabled", "true")
			.with("kafka-queue.listeners.batch.ledger.capacity", 20)
			.start()) {
			Hanging handler = app.bean(Hanging.class);
			QueueApp.eventually().until(() -> handler.batches.contains(List.of("a", "hang")));
			IntStream.range(0, 40).forEach((number) -> Broker.send(topic, null, "order " + number));
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 42);

			assertThat(DeadLetter.awaitOne(topic).value()).isEqualTo("hang");
			assertThat(handler.batches).contains(List.of("a"));
		}
	}

	@Test
	void undecodableRecordIsDeadLetteredAloneAndTheOthersMakeTheBatch() {
		String topic = send("batch-poison", "a", "poison", "b");

		try (QueueApp app = app(Payloads.class, topic)
			.with("spring.kafka.consumer.value-deserializer", PoisonedDeserializer.class.getName())
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(letter.value()).isEqualTo("poison");
			assertThat(letter.reason()).isEqualTo("undecodable");
			assertThat(app.bean(Payloads.class).batches).containsExactly(List.of("a", "b"));
		}
	}

	@Test
	void recordThatDoesNotConvertIsDeadLetteredAndTheOthersAreHandled() {
		String topic = send("batch-json", "{\"id\":1}", "{broken", "{\"id\":2}");

		try (QueueApp app = app(Json.class, topic, JsonConverter.class).start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(letter.value()).isEqualTo("{broken");
			assertThat(letter.reason()).isEqualTo("unprocessable");
			assertThat(letter.attempts()).isOne();
			assertThat(app.bean(Json.class).batches).containsExactlyInAnyOrder(List.of(new Trip(1)),
					List.of(new Trip(2)));
		}
	}

	@Test
	void payloadsAreConvertedByTheApplicationsConverter() {
		String topic = send("batch-converted", "{\"id\":1}", "{\"id\":2}");

		try (QueueApp app = app(Json.class, topic, JsonConverter.class).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);

			assertThat(app.bean(Json.class).batches).containsExactly(List.of(new Trip(1), new Trip(2)));
		}
	}

	@Test
	void recordsMessagesAndHeadersArePassed() {
		String topic = send("batch-forms", "a", "b");

		try (QueueApp app = app(Consumed.class, topic).start()) {
			QueueApp.eventually().until(() -> app.bean(Consumed.class).records.size() == 2);
			assertThat(app.bean(Consumed.class).records).extracting(ConsumerRecord::value, ConsumerRecord::offset)
				.containsExactly(tuple("a", 0L), tuple("b", 1L));
		}
		Broker.send(topic, null, "c");
		try (QueueApp app = app(Messages.class, topic).start()) {
			QueueApp.eventually().until(() -> app.bean(Messages.class).messages.size() == 1);
			assertThat(app.bean(Messages.class).messages.get(0).getHeaders()).containsEntry(KafkaHeaders.OFFSET, 2L)
				.containsEntry(KafkaHeaders.GROUP_ID, topic);
		}
		Broker.send(topic, "k", "d");
		try (QueueApp app = app(WithHeaders.class, topic).start()) {
			QueueApp.eventually().until(() -> app.bean(WithHeaders.class).seen.size() == 1);
			assertThat(app.bean(WithHeaders.class).seen).containsExactly("d 3 k");
		}
	}

	@Test
	void acknowledgmentSettlesUpToAnIndexAndNothingElseDoes() {
		String topic = send("batch-ack", "a", "b", "c");

		try (QueueApp app = app(Acknowledging.class, topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);
			Acknowledging handler = app.bean(Acknowledging.class);
			assertThat(app.queue("batch").inFlight()).isOne();
			assertThat(handler.batches).containsExactly(List.of("a", "b", "c"));

			handler.acknowledgments.remove().acknowledge();

			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);
			assertThat(app.queue("batch").inFlight()).isZero();
			assertThat(handler.batches).hasSize(1);
		}
	}

	@Test
	void negativeAcknowledgmentFailsOneAndRunsThoseBehindItAgain() {
		String topic = send("batch-nack", "a", "nack", "b");

		try (QueueApp app = app(NegativelyAcknowledging.class, topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(DeadLetter.awaitOne(topic).attempts()).isEqualTo(3);
			List<List<String>> batches = app.bean(NegativelyAcknowledging.class).batches;
			assertThat(batches).filteredOn((batch) -> batch.contains("a")).hasSize(1);
			assertThat(batches).filteredOn((batch) -> batch.contains("nack")).hasSize(3);
			assertThat(batches).contains(List.of("b"));
		}
	}

	@Test
	void recordsAreSettledWhenTheFutureCompletesAndNotEarlier() {
		String topic = send("batch-later", "a", "bad", "b");

		try (QueueApp app = app(Later.class, topic).start()) {
			Later handler = app.bean(Later.class);
			QueueApp.eventually().until(() -> handler.results.size() == 1);
			assertThat(app.queue("batch").inFlight()).isEqualTo(3);
			assertThat(app.queue("batch").outcomes().acknowledgedCount()).isZero();

			handler.results.remove()
				.completeExceptionally(new QueueBatchException(Map.of(1, new QueueRejectException("no"))));

			assertThat(DeadLetter.awaitOne(topic).value()).isEqualTo("bad");
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);
			assertThat(app.queue("batch").inFlight()).isZero();
			assertThat(handler.batches).containsExactly(List.of("a", "bad", "b"));
		}
	}

	@Test
	void futureThatTimesOutIsCancelledAndItsRecordsAreTriedAlone() {
		String topic = send("batch-late", "a", "b");

		try (QueueApp app = app(Later.class, topic).with("kafka-queue.listeners.batch.timeout.initial", "500ms")
			.start()) {
			Later handler = app.bean(Later.class);
			QueueApp.eventually().until(() -> handler.results.size() == 1);
			CompletableFuture<Void> first = handler.results.remove();
			QueueApp.eventually().until(() -> handler.results.size() == 2);
			handler.results.forEach((result) -> result.complete(null));

			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);
			QueueApp.eventually().until(first::isCancelled);
			assertThat(handler.batches).containsExactlyInAnyOrder(List.of("a", "b"), List.of("a"), List.of("b"));
			QueueApp.eventually().until(() -> app.queue("batch").inFlight() == 0);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "key", "partition" })
	void orderHoldsWithinABatchAndFromOneToTheNextAlsoThroughFailures(String ordering) {
		String topic = Broker.newTopic("batch-" + ordering, 2);
		for (int number = 0; number < 400; number++) {
			String value = (number % 31 == 0) ? "fails once " + number : "order " + number;
			Broker.send(topic, "key-" + number % 7, (number % 47 == 0) ? "spoils once " + number : value);
		}

		try (QueueApp app = app(Ordered.class, topic).with("kafka-queue.listeners.batch.ordering", ordering)
			.with("kafka-queue.listeners.batch.batch.size", 20)
			.with("kafka-queue.listeners.batch.batch.linger", "5ms")
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 400);

			Ordered handler = app.bean(Ordered.class);
			assertThat(handler.handled).hasSize(400);
			Map<String, Long> last = new HashMap<>();
			for (ConsumerRecord<String, String> record : handler.handled) {
				String key = ordering.equals("key") ? record.partition() + record.key() : "" + record.partition();
				Long before = last.put(key, record.offset());
				assertThat(record.offset()).isGreaterThan((before != null) ? before : -1);
			}
			assertThat(handler.sizes).contains(20);
			assertThat(handler.sameKeyTogether).isTrue();
			QueueApp.eventually().until(() -> app.queue("batch").waitingForTurn() == 0);
		}
	}

	@Test
	void namedRecordGoesThroughItsRetryTopic() {
		String topic = send("batch-tier", "a", "bad", "b");

		try (QueueApp app = app(FailingUpTo.class, topic)
			.with("kafka-queue.listeners.batch.retry.local.max-attempts", 1)
			.with("kafka-queue.listeners.batch.retry.topics[0].delay", "100ms")
			.start()) {
			DeadLetter letter = DeadLetter.awaitOne(topic);

			assertThat(letter.value()).isEqualTo("bad");
			assertThat(letter.attempts()).isEqualTo(2);
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);
		}
	}

	@Test
	void H2_outOfMemoryInABatchStopsTheQueueOnceAndLeavesItsRecordsToTheNextApplication() {
		String topic = send("batch-memory", "a", "memory", "b");

		try (QueueApp app = app(Exhausted.class, topic).start();
				LogLines lines = LogLines.of("io.queuestarter.container.Queue", Level.ERROR)) {
			QueueApp.eventually().until(() -> app.queue("batch").state() == QueueState.FAILED);
			QueueApp.eventually().until(() -> app.queue("batch").partitions().isEmpty());

			assertThat(app.bean(Exhausted.class).batches).containsExactly(List.of("a", "memory", "b"));
			assertThat(app.queue("batch").failure()).isInstanceOf(OutOfMemoryError.class);
			assertThat(lines.texts(Level.ERROR)).singleElement(InstanceOfAssertFactories.STRING)
				.contains("Queue 'batch' stops");
		}
		assertThat(Broker.committedSum(topic, topic)).isZero();
		assertThat(DeadLetter.count(topic + "-dlq")).isZero();

		try (QueueApp app = app(Payloads.class, topic).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(app.bean(Payloads.class).values()).containsExactly("a", "memory", "b");
		}
	}

	private static String send(String name, String... values) {
		String topic = Broker.newTopic(name, 1);
		for (String value : values) {
			Broker.send(topic, null, value);
		}
		return topic;
	}

	private static QueueApp.Builder app(Class<?> handler, String topic, Class<?>... more) {
		List<Class<?>> beans = new ArrayList<>(List.of(more));
		beans.add(handler);
		return QueueApp.of(beans.toArray(new Class<?>[0]))
			.with("topic", topic)
			.with("kafka-queue.listeners.batch.batch.linger", "300ms");
	}

	record Trip(int id) {

	}

	@Configuration(proxyBeanMethods = false)
	static class JsonConverter {

		@Bean
		RecordMessageConverter converter() {
			return new StringJacksonJsonMessageConverter();
		}

	}

	/** A breaker that opens stays open. */
	@Configuration(proxyBeanMethods = false)
	static class UnforgivingBreakers {

		@Bean
		CircuitBreakerRegistry breakers() {
			CircuitBreakerRegistry breakers = CircuitBreakerRegistry.of(CircuitBreakerConfig.custom()
				.minimumNumberOfCalls(20)
				.waitDurationInOpenState(Duration.ofHours(1))
				.build());
			breakers.circuitBreaker("batch");
			return breakers;
		}

	}

	public static class PoisonedDeserializer implements Deserializer<String> {

		private final StringDeserializer delegate = new StringDeserializer();

		@Override
		public @Nullable String deserialize(String topic, byte @Nullable [] data) {
			String value = this.delegate.deserialize(topic, data);
			if ("poison".equals(value)) {
				throw new IllegalArgumentException("poison");
			}
			return value;
		}

	}

	/** Notes what it was called with. */
	static class Noting<T> {

		final List<List<T>> batches = Collections.synchronizedList(new ArrayList<>());

		void note(List<T> batch) {
			this.batches.add(List.copyOf(batch));
		}

		List<T> values() {
			return List.copyOf(this.batches).stream().flatMap(List::stream).toList();
		}

		static int indexOf(List<String> values, Predicate<String> condition) {
			return IntStream.range(0, values.size())
				.filter((index) -> condition.test(values.get(index)))
				.findFirst()
				.orElse(-1);
		}

	}

	static class Payloads extends Noting<String> {

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values) {
			note(values);
		}

	}

	static class Json extends Noting<Trip> {

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<Trip> trips) {
			note(trips);
		}

	}

	static class FailingUpTo extends Noting<String> {

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values) {
			note(values);
			int bad = indexOf(values, (value) -> value.startsWith("bad"));
			if (bad >= 0) {
				throw new BatchListenerFailedException("failed", new IllegalStateException("bad"), bad);
			}
		}

	}

	static class NamingFailures extends Noting<String> {

		private final Set<String> tried = Collections.synchronizedSet(new HashSet<>());

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values) {
			note(values);
			Map<Integer, Exception> failures = new HashMap<>();
			for (int index = 0; index < values.size(); index++) {
				switch (values.get(index)) {
					case "bad" -> failures.put(index, new IllegalStateException("bad"));
					case "reject" -> failures.put(index, new QueueRejectException("no"));
					case "later" -> {
						if (this.tried.add("later")) {
							failures.put(index, new QueueRetryException(Duration.ofMillis(10)));
						}
					}
					default -> {
						// Handled.
					}
				}
			}
			if (!failures.isEmpty()) {
				throw new QueueBatchException(failures);
			}
		}

	}

	static class FailingWhole extends Noting<String> {

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values) {
			note(values);
			if (values.contains("bad")) {
				throw new IllegalStateException("bad");
			}
		}

	}

	static class Exhausted extends Noting<String> {

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values) {
			note(values);
			throw new OutOfMemoryError("Not enough for a batch");
		}

	}

	static class Hanging extends Noting<String> {

		final List<List<String>> interrupted = Collections.synchronizedList(new ArrayList<>());

		private final Hold hold = new Hold();

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values) throws InterruptedException {
			note(values);
			if (values.contains("hang")) {
				try {
					this.hold.await();
				}
				catch (InterruptedException ex) {
					this.interrupted.add(List.copyOf(values));
					throw ex;
				}
			}
		}

	}

	static class Consumed {

		final List<ConsumerRecord<String, String>> records = Collections.synchronizedList(new ArrayList<>());

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<ConsumerRecord<String, String>> batch) {
			this.records.addAll(batch);
		}

	}

	static class Messages {

		final List<Message<String>> messages = Collections.synchronizedList(new ArrayList<>());

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<Message<String>> batch) {
			this.messages.addAll(batch);
		}

	}

	static class WithHeaders {

		final List<String> seen = Collections.synchronizedList(new ArrayList<>());

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values, @Header(KafkaHeaders.OFFSET) List<Long> offsets,
				@Header(KafkaHeaders.RECEIVED_KEY) List<String> keys) {
			for (int index = 0; index < values.size(); index++) {
				this.seen.add(values.get(index) + " " + offsets.get(index) + " " + keys.get(index));
			}
		}

	}

	static class Acknowledging extends Noting<String> {

		final BlockingQueue<Acknowledgment> acknowledgments = new LinkedBlockingQueue<>();

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values, Acknowledgment acknowledgment) {
			note(values);
			acknowledgment.acknowledge(1);
			this.acknowledgments.add(acknowledgment);
		}

	}

	static class NegativelyAcknowledging extends Noting<String> {

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<String> values, Acknowledgment acknowledgment) {
			note(values);
			int index = values.indexOf("nack");
			if (index >= 0) {
				acknowledgment.nack(index, Duration.ofMillis(10));
			}
			else {
				acknowledgment.acknowledge();
			}
		}

	}

	static class Later extends Noting<String> {

		final BlockingQueue<CompletableFuture<Void>> results = new LinkedBlockingQueue<>();

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		CompletableFuture<Void> handle(List<String> values) {
			note(values);
			CompletableFuture<Void> result = new CompletableFuture<>();
			this.results.add(result);
			return result;
		}

	}

	static class Ordered {

		final List<ConsumerRecord<String, String>> handled = Collections.synchronizedList(new ArrayList<>());

		final Set<Integer> sizes = Collections.synchronizedSet(new TreeSet<>());

		volatile boolean sameKeyTogether;

		private final Set<String> tried = Collections.synchronizedSet(new HashSet<>());

		@QueueListener(id = "batch", topics = "${topic}", groupId = "${topic}")
		void handle(List<ConsumerRecord<String, String>> batch) {
			this.sizes.add(batch.size());
			if (batch.stream().map((record) -> record.partition() + record.key()).distinct().count() < batch.size()) {
				this.sameKeyTogether = true;
			}
			for (ConsumerRecord<String, String> record : batch) {
				if (record.value().startsWith("spoils once") && this.tried.add(record.value())) {
					throw new IllegalStateException("spoilt");
				}
			}
			for (ConsumerRecord<String, String> record : batch) {
				if (record.value().startsWith("fails once") && this.tried.add(record.value())) {
					throw new BatchListenerFailedException("failed", record);
				}
				this.handled.add(record);
			}
		}

	}

}
