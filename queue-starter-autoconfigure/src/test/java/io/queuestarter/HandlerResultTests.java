package io.queuestarter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import kotlin.Unit;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.MessageHandlingException;
import org.springframework.messaging.support.GenericMessage;
import reactor.core.publisher.Mono;

import io.queuestarter.container.Queues;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/**
 * When a record is settled. Records are sent, handlers return a result that completes
 * later, or take an acknowledgment: until then the offset is not committed, and a slot is
 * occupied. A result that ends in any other way than in success is a failed attempt, and
 * after three of them a dead letter with the cause itself, not its wrappers.
 */
@Tag("threads")
class HandlerResultTests {

	@ParameterizedTest
	@ValueSource(classes = { StageHandler.class, MonoHandler.class })
	void recordIsSettledWhenTheResultCompletesAndNotEarlier(Class<? extends ResultHandler> type) {
		String topic = Broker.newTopic("results-later", 1);
		Broker.send(topic, null, "later");
		Broker.send(topic, null, "now");

		try (QueueApp app = QueueApp.of(type).with("topic", topic).start()) {
			ResultHandler handler = app.bean(type);
			QueueApp.eventually().until(() -> app.queue("results").outcomes().acknowledgedCount() == 1);
			QueueApp.eventually().until(() -> hasSettledAboveWatermark(app));

			assertThat(app.queue("results").inFlight()).isOne();
			assertThat(Broker.committedOffset(type.getSimpleName(), topic, 0)).isLessThanOrEqualTo(0);

			handler.result("later").complete("done");
			awaitCommitted(type.getSimpleName(), topic, 2);
			assertThat(app.queue("results").inFlight()).isZero();
			assertThat(handler.attempts).containsOnly(Map.entry("later", 1), Map.entry("now", 1));
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { StageHandler.class, MonoHandler.class })
	void H1_everyResultThatIsNoSuccessIsAFailedAttempt(Class<? extends ResultHandler> type) {
		String topic = Broker.newTopic("results-h1", 1);
		List<String> failing = List.of("fails-later", "fails-at-once", "cancelled", "null", "throws");
		failing.forEach((value) -> Broker.send(topic, null, value));
		Broker.send(topic, null, "now");

		try (QueueApp app = QueueApp.of(type).with("topic", topic).start()) {
			ResultHandler handler = app.bean(type);
			for (int attempt = 1; attempt <= 3; attempt++) {
				int number = attempt;
				QueueApp.eventually().until(() -> handler.attempts.getOrDefault("fails-later", 0) == number);
				handler.takeResult("fails-later").completeExceptionally(new KafkaException("later"));
			}
			List<DeadLetter> letters = DeadLetter.await(topic, 5);
			awaitCommitted(type.getSimpleName(), topic, 6);

			assertThat(letters).hasSize(5).allSatisfy((letter) -> {
				assertThat(letter.reason()).isEqualTo("retries_exhausted");
				assertThat(letter.attempts()).isEqualTo(3);
			});
			assertThat(letters).extracting(DeadLetter::value, DeadLetter::exception)
				.containsExactlyInAnyOrder(tuple("fails-later", KafkaException.class.getName()),
						tuple("fails-at-once", KafkaException.class.getName()),
						tuple("cancelled", CancellationException.class.getName()),
						tuple("null", NullPointerException.class.getName()),
						tuple("throws", KafkaException.class.getName()));
			failing.forEach((value) -> assertThat(handler.attempts).containsEntry(value, 3));
			assertThat(app.queue("results").inFlight()).isZero();
			assertThat(app.queue("results").outcomes().acknowledgedCount()).isOne();
		}
	}

	@Test
	void inFlightLimitCountsOpenResults() {
		String topic = Broker.newTopic("results-limit", 1);
		Stream.of("later-1", "later-2", "later-3").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(StageHandler.class)
			.with("topic", topic)
			.with("kafka-queue.listeners.results.dispatch.max-in-flight", 2)
			.start()) {
			StageHandler handler = app.bean(StageHandler.class);
			QueueApp.eventually().until(() -> app.queue("results").inFlight() == 2);
			QueueApp.eventually().until(() -> app.queue("results").buffered() == 1);

			assertThat(handler.attempts).containsOnlyKeys("later-1", "later-2");

			handler.result("later-2").complete("done");
			QueueApp.eventually().until(() -> handler.attempts.containsKey("later-3"));
			handler.result("later-1").complete("done");
			handler.result("later-3").complete("done");
			awaitCommitted("StageHandler", topic, 3);
		}
	}

	@Test
	void resultOfAMethodThatDeclaresObjectIsAwaited() {
		String topic = Broker.newTopic("results-object", 1);
		Broker.send(topic, null, "later");
		Broker.send(topic, null, "now");

		try (QueueApp app = QueueApp.of(ObjectHandler.class).with("topic", topic).start()) {
			ObjectHandler handler = app.bean(ObjectHandler.class);
			QueueApp.eventually().until(() -> app.queue("results").outcomes().acknowledgedCount() == 1);
			QueueApp.eventually().until(() -> hasSettledAboveWatermark(app));

			assertThat(app.queue("results").inFlight()).isOne();

			handler.result("later").complete("done");
			awaitCommitted("ObjectHandler", topic, 2);
		}
	}

	@Test
	void suspendFunctionIsSettledWhenItEnds() {
		String topic = Broker.newTopic("results-suspend", 1);
		Stream.of("good", "fails", "bad").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(SuspendHandler.class).with("topic", topic).start()) {
			SuspendHandler handler = app.bean(SuspendHandler.class);
			QueueApp.eventually().until(() -> DeadLetter.count(topic + "-dlq") == 1);
			QueueApp.eventually().until(() -> app.queue("suspending").inFlight() == 2);

			assertThat(Broker.committedOffset("results-suspend", topic, 0)).isLessThanOrEqualTo(0);
			assertThat(app.queue("suspending").outcomes().acknowledgedCount()).isZero();

			handler.getRelease().complete(Unit.INSTANCE);
			List<DeadLetter> letters = DeadLetter.await(topic, 2);
			awaitCommitted("results-suspend", topic, 3);

			assertThat(letters).extracting(DeadLetter::exception)
				.containsExactlyInAnyOrder(IllegalStateException.class.getName(),
						IllegalArgumentException.class.getName());
			assertThat(handler.getStarted()).containsExactlyInAnyOrder("good1", "fails1", "fails2", "fails3", "bad1",
					"bad2", "bad3");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { DeferredHandler.class, FlowHandler.class })
	void resultThatNobodyWouldAwaitFailsStartUp(Class<?> handler) {
		QueueApp.Builder app = QueueApp.of(handler).with("topic", "unused");

		assertThatThrownBy(app::start).hasStackTraceContaining("whose completion is never seen");
	}

	@Test
	void acknowledgmentAloneSettlesTheRecord() throws InterruptedException {
		String topic = Broker.newTopic("results-ack", 1);
		Stream.of("keep", "inside").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(Acknowledging.class).with("topic", topic).start()) {
			Acknowledging handler = app.bean(Acknowledging.class);
			QueueApp.eventually().until(() -> handler.kept.containsKey("keep"));
			QueueApp.eventually().until(() -> hasSettledAboveWatermark(app));

			assertThat(app.queue("acknowledging").inFlight()).isOne();
			assertThat(Broker.committedOffset("results-ack", topic, 0)).isLessThanOrEqualTo(0);

			Acknowledgment kept = handler.kept.get("keep");
			assertThat(kept).isNotNull();
			Thread other = new Thread(kept::acknowledge);
			other.start();
			other.join(Duration.ofSeconds(10).toMillis());
			awaitCommitted("results-ack", topic, 2);
			kept.acknowledge();
			assertThat(app.queue("acknowledging").outcomes().acknowledgedCount()).isEqualTo(2);
			assertThat(app.queue("acknowledging").inFlight()).isZero();
		}
	}

	@Test
	void acknowledgmentAloneSettlesTheRecordWhateverTheResult() {
		String topic = Broker.newTopic("results-ack-stage", 1);
		Stream.of("keep", "inside").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(AcknowledgingStage.class).with("topic", topic).start()) {
			AcknowledgingStage handler = app.bean(AcknowledgingStage.class);
			QueueApp.eventually().until(() -> handler.kept.containsKey("keep"));
			QueueApp.eventually().until(() -> hasSettledAboveWatermark(app));

			assertThat(app.queue("acknowledging").inFlight()).isOne();

			Acknowledgment kept = handler.kept.get("keep");
			assertThat(kept).isNotNull();
			kept.acknowledge();
			awaitCommitted("results-ack", topic, 2);
			assertThat(app.queue("acknowledging").inFlight()).isZero();
		}
	}

	@Test
	void negativeAcknowledgmentAsksForAnotherAttempt() {
		String topic = Broker.newTopic("results-nack", 1);
		Broker.send(topic, null, "nack");
		Broker.send(topic, null, "throws");

		try (QueueApp app = QueueApp.of(Acknowledging.class).with("topic", topic).start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 2);
			awaitCommitted("results-ack", topic, 2);

			assertThat(letters).extracting(DeadLetter::attempts).containsExactly(3, 3);
			assertThat(app.queue("acknowledging").inFlight()).isZero();
		}
	}

	/*
	 * A handler that uses Spring Messaging itself, for instance a gateway of Spring
	 * Integration, throws the same exceptions as the resolution of its own arguments.
	 * They tell of an outage, so attempts must follow.
	 */
	@Test
	void messagingExceptionOfTheHandlerItselfIsTriedAgain() {
		String topic = Broker.newTopic("results-messaging", 1);
		Stream.of("inside", "in-result").forEach((value) -> Broker.send(topic, null, value));

		try (QueueApp app = QueueApp.of(MessagingHandler.class).with("topic", topic).start()) {
			List<DeadLetter> letters = DeadLetter.await(topic, 2);
			awaitCommitted("results-messaging", topic, 2);

			assertThat(letters).hasSize(2).allSatisfy((letter) -> {
				assertThat(letter.attempts()).isEqualTo(3);
				assertThat(letter.reason()).isEqualTo("retries_exhausted");
				assertThat(letter.text(KafkaHeaders.DLT_EXCEPTION_CAUSE_FQCN))
					.isEqualTo(IllegalStateException.class.getName());
			});
		}
	}

	private static boolean hasSettledAboveWatermark(QueueApp app) {
		return app.context()
			.getBean(Queues.class)
			.all()
			.stream()
			.flatMap((queue) -> queue.partitions().stream())
			.anyMatch((partition) -> partition.settled() == 1 && partition.outstanding() == 1);
	}

	private static void awaitCommitted(String group, String topic, long offset) {
		QueueApp.eventually().until(() -> Broker.committedOffset(group, topic, 0) == offset);
	}

	/** Makes results by the value of the record. */
	abstract static class ResultHandler {

		final Map<String, Integer> attempts = new ConcurrentHashMap<>();

		private final Map<String, CompletableFuture<String>> results = new ConcurrentHashMap<>();

		CompletableFuture<String> result(String value) {
			return this.results.computeIfAbsent(value, (key) -> new CompletableFuture<>());
		}

		CompletableFuture<String> takeResult(String value) {
			CompletableFuture<String> result = result(value);
			this.results.remove(value);
			return result;
		}

		@Nullable CompletableFuture<String> handle(String value) {
			CompletableFuture<String> result = switch (value) {
				case "now" -> CompletableFuture.completedFuture("done");
				case "fails-at-once" -> CompletableFuture.failedFuture(new KafkaException("at once"));
				case "null" -> null;
				case "throws" -> null;
				case "cancelled" -> new CompletableFuture<>();
				default -> result(value);
			};
			if (value.equals("cancelled") && result != null) {
				result.cancel(true);
			}
			this.attempts.merge(value, 1, Integer::sum);
			if (value.equals("throws")) {
				throw new KafkaException("before there was a result");
			}
			return result;
		}

	}

	static class StageHandler extends ResultHandler {

		@QueueListener(id = "results", topics = "${topic}", groupId = "StageHandler")
		@Nullable CompletionStage<Integer> stage(String value) {
			CompletableFuture<String> result = handle(value);
			return (result != null) ? result.thenApply(String::length) : null;
		}

	}

	static class MonoHandler extends ResultHandler {

		@QueueListener(id = "results", topics = "${topic}", groupId = "MonoHandler")
		@Nullable Mono<Void> mono(String value) {
			CompletableFuture<String> result = handle(value);
			return (result != null) ? Mono.fromFuture(result, true).then() : null;
		}

	}

	static class ObjectHandler extends ResultHandler {

		@QueueListener(id = "results", topics = "${topic}", groupId = "ObjectHandler")
		@Nullable Object object(String value) {
			return handle(value);
		}

	}

	static class Acknowledging {

		final Map<String, Acknowledgment> kept = new ConcurrentHashMap<>();

		@QueueListener(id = "acknowledging", topics = "${topic}", groupId = "results-ack")
		void handle(String value, Acknowledgment acknowledgment) {
			switch (value) {
				case "inside" -> acknowledgment.acknowledge();
				case "nack" -> acknowledgment.nack(Duration.ofMillis(5));
				case "throws" -> throw new IllegalStateException("without an answer");
				default -> this.kept.put(value, acknowledgment);
			}
		}

	}

	static class AcknowledgingStage {

		final Map<String, Acknowledgment> kept = new ConcurrentHashMap<>();

		@QueueListener(id = "acknowledging", topics = "${topic}", groupId = "results-ack")
		CompletableFuture<Void> handle(String value, Acknowledgment acknowledgment) {
			if (value.equals("inside")) {
				acknowledgment.acknowledge();
			}
			else {
				this.kept.put(value, acknowledgment);
			}
			return CompletableFuture.completedFuture(null);
		}

	}

	static class MessagingHandler {

		final List<String> calls = new CopyOnWriteArrayList<>();

		@QueueListener(id = "messaging", topics = "${topic}", groupId = "results-messaging")
		CompletableFuture<Void> handle(String value) {
			MessageHandlingException outage = new MessageHandlingException(new GenericMessage<>(value), "gateway",
					new IllegalStateException("connection refused"));
			if (value.equals("inside")) {
				throw outage;
			}
			return CompletableFuture.failedFuture(outage);
		}

	}

}
