package io.queuestarter;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.MDC;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.core.KafkaTemplate;

import io.queuestarter.observe.DefaultQueueObservationConvention;
import io.queuestarter.observe.QueueObservationContext;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.LogLines;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a handler finds on its thread: the MDC, the observation and the lane of the record
 * it handles, and nothing of those before. One worker handles the records of a lane, so
 * that all of them meet on one thread, unless a test says otherwise.
 */
@Tag("threads")
class HandlerContextTests {

	private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

	static Stream<String> modes() {
		return (Runtime.version().feature() >= 21) ? Stream.of("platform", "virtual") : Stream.of("platform");
	}

	@ParameterizedTest
	@MethodSource("modes")
	void H4_mdcIsThatOfTheRecordAndNothingIsLeftOfTheOneThatFailed(String mode) {
		String topic = Broker.newTopic("context-mdc", 1);
		send(topic, "test", "leaves", null);
		send(topic, "load-test", "next", null);

		try (QueueApp app = app(topic, mode).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.mdc.containsKey("next"));

			assertThat(mdc(handler, "leaves")).containsExactlyInAnyOrderEntriesOf(Map.of("queue", "context", "topic",
					topic, "partition", "0", "offset", "0", "attempt", "1", "lane", "test"));
			assertThat(mdc(handler, "next")).containsExactlyInAnyOrderEntriesOf(Map.of("queue", "context", "topic",
					topic, "partition", "0", "offset", "1", "attempt", "1", "lane", "test"));
		}
	}

	@ParameterizedTest
	@MethodSource("modes")
	void H4_mdcThatIsSwitchedOffIsEmptyAndClearedAllTheSame(String mode) {
		String topic = Broker.newTopic("context-no-mdc", 1);
		send(topic, "test", "leaves", null);
		send(topic, "load-test", "next", null);

		try (QueueApp app = app(topic, mode).with("kafka-queue.mdc.enabled", false).start()) {
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.mdc.containsKey("next"));

			assertThat(mdc(handler, "leaves")).isEmpty();
			assertThat(mdc(handler, "next")).isEmpty();
		}
	}

	@ParameterizedTest
	@MethodSource("modes")
	void H4_eachOfTenThousandHandlersSeesItsOwnLaneAndTrace(String mode) {
		String topic = Broker.newTopic("context-lanes", 4);

		try (QueueApp app = app(topic, mode).with("kafka-queue.listeners.context.dispatch.max-in-flight", 16)
			.prepare((context) -> context.registerBean(Tracer.class))
			.start()) {
			Handler handler = app.bean(Handler.class);
			Tracer tracer = app.bean(Tracer.class);
			for (int number = 0; number < 10_000; number++) {
				ProducerRecord<Object, Object> record = new ProducerRecord<>(topic,
						((number % 2 == 0) ? "prod " : "test ") + number);
				record.headers().add("tenancy", Broker.bytes((number % 2 == 0) ? "prod" : "test"));
				record.headers().add("traceparent", Broker.bytes("trace of " + number));
				Objects.requireNonNull(template(app).send(record));
			}
			template(app).flush();
			QueueApp.eventually().until(() -> tracer.ended.size() == 10_000);

			assertThat(handler.wrong).isEmpty();
			assertThat(handler.compared).hasValue(10_000);
			assertThat(tracer.open).hasValue(0);
			assertThat(tracer.ended.stream().filter((end) -> "test".equals(end.get("lane")))).hasSize(5_000);
		}
	}

	@Test
	void observationTellsWhatBecameOfEachAttempt() {
		String topic = Broker.newTopic("context-outcomes", 1);
		for (String value : List.of("fine", "bad", "rejected", "slow")) {
			send(topic, null, value, null);
		}

		try (QueueApp app = app(topic, "platform").with("kafka-queue.listeners.context.retry.local.max-attempts", 2)
			.with("kafka-queue.listeners.context.timeout.initial", "500ms")
			.with("kafka-queue.listeners.context.timeout.max-count", 1)
			.prepare((context) -> context.registerBean(Tracer.class))
			.start()) {
			Tracer tracer = app.bean(Tracer.class);
			QueueApp.eventually().until(() -> tracer.ended.size() == 5);

			assertThat(tracer.ended)
				.extracting((end) -> end.get("messaging.kafka.offset") + " " + end.get("outcome") + " "
						+ end.get("error.type") + " " + end.get("queue.attempt"))
				.containsExactlyInAnyOrder("0 acked none 1", "1 retried IllegalStateException 1",
						"1 nacked IllegalStateException 2", "2 nacked QueueRejectException 1",
						"3 timed_out TimeoutException 1");
			assertThat(tracer.ended).allSatisfy((end) -> assertThat(end).containsEntry("queue", "context")
				.containsEntry("name", "kafka.queue.process")
				.containsEntry("contextual name", "process " + topic)
				.containsEntry("messaging.system", "kafka")
				.containsEntry("messaging.operation.name", "process")
				.containsEntry("messaging.operation.type", "process")
				.containsEntry("messaging.destination.name", topic)
				.containsEntry("messaging.destination.partition.id", "0")
				.containsEntry("messaging.consumer.group.name", topic)
				.containsEntry("lane", "prod"));
		}
	}

	@Test
	void H4_linesAboutARetryAndADeadLetterCarryTheTraceOfTheRecord() {
		String topic = Broker.newTopic("context-trace", 1);
		send(topic, null, "bad", TRACE);
		send(topic, null, "slow", TRACE + " of the slow one");

		try (QueueApp app = app(topic, "platform").with("kafka-queue.listeners.context.retry.local.max-attempts", 2)
			.with("kafka-queue.listeners.context.timeout.initial", "500ms")
			.with("kafka-queue.listeners.context.timeout.max-count", 1)
			.prepare((context) -> context.registerBean(Tracer.class))
			.start(); LogLines lines = LogLines.of("io.queuestarter", Level.DEBUG)) {
			DeadLetter.await(topic, 2);
			QueueApp.eventually().until(() -> lines.mdcOf("@1 moved to").size() == 1);

			assertThat(lines.mdcOf("@0 attempt 1 failed with")).first()
				.satisfies((mdc) -> assertThat(mdc).containsEntry("trace", TRACE).containsEntry("attempt", "1"));
			assertThat(lines.mdcOf("@0 moved to")).singleElement()
				.satisfies((mdc) -> assertThat(mdc).containsEntry("trace", TRACE).containsEntry("offset", "0"));
			assertThat(lines.mdcOf("@1 attempt 1 timed out")).singleElement()
				.satisfies((mdc) -> assertThat(mdc).containsEntry("trace", TRACE + " of the slow one"));
			assertThat(lines.mdcOf("@1 moved to")).singleElement()
				.satisfies((mdc) -> assertThat(mdc).containsEntry("trace", TRACE + " of the slow one"));
		}
	}

	@ParameterizedTest
	@MethodSource("modes")
	void H4_asynchronousResultIsObservedUntilItCompletesAndItsThreadIsLeftAsItWas(String mode) {
		String topic = Broker.newTopic("context-async", 1);
		send(topic, "test", "later", TRACE);

		try (QueueApp app = app(AsyncHandler.class, topic, mode)
			.prepare((context) -> context.registerBean(Tracer.class))
			.with("kafka-queue.listeners.context.retry.local.max-attempts", 2)
			.start(); LogLines lines = LogLines.of("io.queuestarter.settle", Level.DEBUG)) {
			AsyncHandler handler = app.bean(AsyncHandler.class);
			Tracer tracer = app.bean(Tracer.class);
			QueueApp.eventually().until(() -> handler.results.size() == 1 && tracer.open.get() == 0);
			assertThat(tracer.ended).isEmpty();

			MDC.put("mine", "stays");
			try {
				handler.results.remove().completeExceptionally(new IllegalStateException("Not today"));
				assertThat(MDC.getCopyOfContextMap()).containsExactly(Map.entry("mine", "stays"));
			}
			finally {
				MDC.clear();
			}
			assertThat(lines.mdcOf("@0 attempt 1 failed with")).singleElement()
				.satisfies((mdc) -> assertThat(mdc).containsEntry("trace", TRACE)
					.containsEntry("lane", "test")
					.containsEntry("mine", "stays"));
			assertThat(tracer.ended).extracting((end) -> end.get("outcome")).containsExactly("retried");

			QueueApp.eventually().until(() -> handler.results.size() == 1);
			handler.results.remove().complete(null);
			QueueApp.eventually().until(() -> tracer.ended.size() == 2);
			assertThat(tracer.ended).extracting((end) -> end.get("outcome")).containsExactly("retried", "acked");
		}
	}

	@Test
	void asynchronousResultThatNeverComesIsObservedUntilItTimesOut() {
		String topic = Broker.newTopic("context-async-timeout", 1);
		send(topic, null, "never", TRACE);

		try (QueueApp app = app(AsyncHandler.class, topic, "platform")
			.prepare((context) -> context.registerBean(Tracer.class))
			.with("kafka-queue.listeners.context.timeout.initial", "500ms")
			.with("kafka-queue.listeners.context.timeout.max-count", 1)
			.start()) {
			Tracer tracer = app.bean(Tracer.class);
			QueueApp.eventually().until(() -> tracer.ended.size() == 1);

			assertThat(tracer.ended).extracting((end) -> end.get("outcome")).containsExactly("timed_out");
			assertThat(tracer.open).hasValue(0);
		}
	}

	@Test
	void conventionMayBeReplaced() {
		String topic = Broker.newTopic("context-convention", 1);
		send(topic, null, "fine", null);

		try (QueueApp app = app(topic, "platform").prepare((context) -> {
			context.registerBean(Tracer.class);
			context.registerBean(Named.class);
		}).start()) {
			Tracer tracer = app.bean(Tracer.class);
			QueueApp.eventually().until(() -> tracer.ended.size() == 1);

			assertThat(tracer.ended).singleElement()
				.satisfies((end) -> assertThat(end).containsEntry("name", "orders")
					.containsEntry("value.length", "4")
					.containsEntry("outcome", "acked"));
		}
	}

	@Test
	void observationIsSwitchedOffByBootsProperty() {
		String topic = Broker.newTopic("context-unobserved", 1);
		send(topic, null, "fine", null);

		try (QueueApp app = app(topic, "platform").prepare((context) -> context.registerBean(Tracer.class))
			.with("management.observations.enable.kafka.queue.process", false)
			.start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 1);

			assertThat(app.bean(Tracer.class).ended).isEmpty();
			assertThat(mdc(app.bean(Handler.class), "fine")).containsEntry("lane", "prod");
		}
	}

	@Test
	void observerThatFailsKeepsNoRecordFromBeingHandled() {
		String topic = Broker.newTopic("context-observer", 1);
		send(topic, null, "fine", null);
		send(topic, null, "next", null);

		try (QueueApp app = app(topic, "platform").prepare((context) -> context.registerBean(Broken.class)).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 2);

			assertThat(app.queue("context").deadLettered()).isZero();
			assertThat(app.bean(Broken.class).calls).hasPositiveValue();
		}
	}

	@Test
	void observerThatFailsLeavesNoObservationToTheNextRecord() {
		String topic = Broker.newTopic("context-leak", 1);
		send(topic, null, "fine", null);
		send(topic, null, "next", null);
		send(topic, null, "last", null);

		try (QueueApp app = app(topic, "platform").prepare((context) -> context.registerBean(Broken.class)).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 3);

			assertThat(app.bean(Broken.class).parents).hasSize(3).containsOnly("none");
		}
	}

	@ParameterizedTest
	@MethodSource("modes")
	void whatAHandlerSendsHasTheLaneHeaderOfTheRecordByteForByte(String mode) {
		String topic = Broker.newTopic("context-send", 1);
		String down = Broker.newTopic("context-down", 1);
		send(topic, "load-test", "send", null);
		send(topic, "load-test", "send own", null);
		send(topic, null, "send without", null);
		send(topic, "load-test", "send elsewhere", null);
		send(topic, "load-test", "send by itself", null);

		try (QueueApp app = app(SendingHandler.class, topic, mode).with("context.down", down).start()) {
			QueueApp.eventually().until(() -> Broker.committedSum(topic, topic) == 5);
			template(app).send(new ProducerRecord<>(down, "outside"));
			template(app).flush();

			Map<String, List<String>> tenancies = new HashMap<>();
			for (ConsumerRecord<byte[], byte[]> record : Broker.records(down)) {
				tenancies.put(new String(record.value(), StandardCharsets.UTF_8),
						Stream.of(record.headers().toArray())
							.filter((header) -> header.key().equals("tenancy"))
							.map((header) -> new String(header.value(), StandardCharsets.UTF_8))
							.toList());
			}
			assertThat(tenancies).containsOnly(Map.entry("send", List.of("load-test")),
					Map.entry("send own", List.of("mine")), Map.entry("send without", List.of()),
					Map.entry("send elsewhere", List.of("load-test")), Map.entry("send by itself", List.of()),
					Map.entry("outside", List.of()));
		}
	}

	private static Map<String, String> mdc(Handler handler, String value) {
		return Objects.requireNonNull(handler.mdc.get(value));
	}

	private static void send(String topic, @Nullable String lane, String value, @Nullable String trace) {
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, Broker.bytes(value));
		if (lane != null) {
			record.headers().add("tenancy", Broker.bytes(lane));
		}
		if (trace != null) {
			record.headers().add("traceparent", Broker.bytes(trace));
		}
		Broker.send(record);
	}

	@SuppressWarnings("unchecked")
	private static KafkaTemplate<Object, Object> template(QueueApp app) {
		return app.bean(KafkaTemplate.class);
	}

	private static QueueApp.Builder app(String topic, String mode) {
		return app(Handler.class, topic, mode);
	}

	private static QueueApp.Builder app(Class<?> handler, String topic, String mode) {
		return QueueApp.of(handler)
			.with("context.topic", topic)
			.with("kafka-queue.listeners.context.dispatch.mode", mode)
			.with("kafka-queue.listeners.context.dispatch.max-in-flight", 1)
			.with("kafka-queue.listeners.context.retry.local.max-attempts", 1)
			.with("kafka-queue.listeners.context.lanes.header", "tenancy")
			.with("kafka-queue.listeners.context.lanes.default-lane", "prod")
			.with("kafka-queue.listeners.context.lanes.named.test.values", "test,load-test")
			.with("kafka-queue.listeners.context.lanes.named.test.dispatch.max-in-flight", 1);
	}

	static final class Handler {

		final Map<String, Map<String, String>> mdc = new ConcurrentHashMap<>();

		final Collection<String> wrong = new ConcurrentLinkedQueue<>();

		final AtomicInteger compared = new AtomicInteger();

		private final Hold hold = new Hold();

		private final ObservationRegistry registry;

		Handler(ObservationRegistry registry) {
			this.registry = registry;
		}

		@QueueListener(id = "context", topics = "${context.topic}", groupId = "${context.topic}", timeout = "10m")
		void handle(String value, QueueContext context) throws InterruptedException {
			Map<String, String> found = MDC.getCopyOfContextMap();
			this.mdc.putIfAbsent(value, (found != null) ? found : Map.of());
			MDC.put("user", "of " + value);
			switch (value) {
				case "leaves", "bad" -> throw new IllegalStateException("Bad");
				case "rejected" -> context.reject("No");
				case "slow" -> this.hold.await();
				default -> compare(value, context);
			}
		}

		private void compare(String value, QueueContext context) {
			String[] parts = value.split(" ");
			if (parts.length < 2) {
				return;
			}
			Observation observation = this.registry.getCurrentObservation();
			QueueObservationContext observed = (observation != null)
					? (QueueObservationContext) observation.getContext() : null;
			if (!parts[0].equals(MDC.get("lane")) || observed == null || observed.attempt() != context
					|| !parts[0].equals(observed.attempt().lane())
					|| !("trace of " + parts[1]).equals(MDC.get("trace"))) {
				this.wrong.add(value + " " + MDC.getCopyOfContextMap());
			}
			this.compared.incrementAndGet();
		}

	}

	static final class AsyncHandler {

		final ConcurrentLinkedQueue<CompletableFuture<@Nullable Void>> results = new ConcurrentLinkedQueue<>();

		@QueueListener(id = "context", topics = "${context.topic}", groupId = "${context.topic}", timeout = "10m")
		CompletionStage<@Nullable Void> handle(String value) {
			CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
			this.results.add(result);
			return result;
		}

	}

	static final class SendingHandler {

		private final KafkaTemplate<Object, Object> template;

		private final String down;

		SendingHandler(KafkaTemplate<Object, Object> template, @Value("${context.down}") String down) {
			this.template = template;
			this.down = down;
		}

		@QueueListener(id = "context", topics = "${context.topic}", groupId = "${context.topic}", timeout = "10m")
		CompletionStage<?> handle(String value, QueueContext context) {
			ProducerRecord<Object, Object> record = new ProducerRecord<>(this.down, value);
			return switch (value) {
				case "send own" -> {
					record.headers().add("tenancy", Broker.bytes("mine"));
					yield this.template.send(record);
				}
				case "send elsewhere" -> CompletableFuture.runAsync(() -> {
					context.copyTo(record.headers());
					this.template.send(record).join();
				});
				case "send by itself" -> CompletableFuture.runAsync(() -> this.template.send(record).join());
				default -> this.template.send(record);
			};
		}

	}

	/** Does with an MDC what tracing does, and keeps what is told at the end. */
	static final class Tracer implements ObservationHandler<QueueObservationContext> {

		final Collection<Map<String, String>> ended = new ConcurrentLinkedQueue<>();

		final AtomicInteger open = new AtomicInteger();

		@Override
		public void onScopeOpened(QueueObservationContext context) {
			this.open.incrementAndGet();
			String trace = traceOf(context);
			if (trace != null) {
				MDC.put("trace", trace);
			}
		}

		private static <C> @Nullable String traceOf(ReceiverContext<C> context) {
			return context.getGetter().get(Objects.requireNonNull(context.getCarrier()), "traceparent");
		}

		@Override
		public void onScopeClosed(QueueObservationContext context) {
			this.open.decrementAndGet();
			MDC.remove("trace");
		}

		@Override
		public void onStop(QueueObservationContext context) {
			Map<String, String> end = new HashMap<>();
			for (KeyValue value : context.getAllKeyValues()) {
				end.put(value.getKey(), value.getValue());
			}
			end.put("name", context.getName());
			end.put("contextual name", context.getContextualName());
			this.ended.add(end);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof QueueObservationContext;
		}

	}

	static final class Named extends DefaultQueueObservationConvention {

		@Override
		public String getName() {
			return "orders";
		}

		@Override
		public KeyValues getHighCardinalityKeyValues(QueueObservationContext context) {
			return KeyValues.of("value.length", Integer.toString(context.record().value().length));
		}

	}

	/** Throws wherever it is called. */
	static final class Broken implements ObservationHandler<QueueObservationContext> {

		final AtomicInteger calls = new AtomicInteger();

		final Collection<String> parents = new ConcurrentLinkedQueue<>();

		@Override
		public void onStart(QueueObservationContext context) {
			this.parents.add((context.getParentObservation() != null) ? "another record's" : "none");
		}

		@Override
		public void onScopeOpened(QueueObservationContext context) {
			fail();
		}

		@Override
		public void onScopeClosed(QueueObservationContext context) {
			fail();
		}

		@Override
		public void onStop(QueueObservationContext context) {
			fail();
		}

		private void fail() {
			this.calls.incrementAndGet();
			throw new IllegalStateException("Broken");
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof QueueObservationContext;
		}

	}

}
