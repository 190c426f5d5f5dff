package io.queuestarter.deadletter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.QueueException;
import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Letters whose writes fail: with an error of the virtual machine, because they are too
 * large, or since the topic is away. Each is written in the end, none takes others with
 * it, and while it only waits a drain may let its record go.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeadLetterWriteFailureTests {

	private final Assignment assignment = Records
		.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}));

	private final List<ProducerRecord<byte[], byte[]>> sent = new CopyOnWriteArrayList<>();

	private final List<Callback> callbacks = new CopyOnWriteArrayList<>();

	private Duration firstPause = Duration.ofMillis(10);

	private Destination destination = new Destination(Destination.Kind.DEAD_LETTER, "orders-dlq", 0);

	private @Nullable Destination fallback;

	private TooLarge onTooLarge = TooLarge.HOLD;

	private Duration maxPause = Duration.ofMillis(20);

	@Test
	void errorOfTheProducerIsLoggedAndTheLetterWrittenLater(CapturedOutput output) {
		try (DeadLetterPublisher publisher = publisher((call) -> (call == 1) ? missingLibrary() : null)) {
			Delivery delivery = publish(publisher, 0);

			awaitSettled(delivery);
			assertThat(publisher.failures()).isOne();
			assertThat(publisher.problem()).isNull();
			assertThat(output).contains("orders-0@0 could not be written to 'orders-dlq' and is held")
				.contains("NoClassDefFoundError: org/xerial/snappy/Snappy");
		}
	}

	@Test
	void errorOfTheTopicLookUpIsLogged(CapturedOutput output) {
		AtomicInteger lookUps = new AtomicInteger();
		try (DeadLetterPublisher publisher = publisher((call) -> null, (source, topic, kind) -> {
			if (lookUps.incrementAndGet() == 1) {
				throw new NoClassDefFoundError("org/example/Login");
			}
		})) {
			publisher.prepare("orders", "orders-dlq", Destination.Kind.DEAD_LETTER, Duration.ZERO);

			awaitSettled(publish(publisher, 0));
			assertThat(output).contains("Records of queue 'orders' that fail will be held: "
					+ "java.lang.NoClassDefFoundError: org/example/Login");
		}
	}

	/*
	 * The logger asks the error for its message, in the middle of a round in which all
	 * that is held is written again.
	 */
	@Test
	void lettersBehindOneWhoseFailureCannotBeToldAreNotForgotten() {
		this.firstPause = Duration.ofMillis(200);
		this.maxPause = Duration.ofMillis(200);
		try (DeadLetterPublisher publisher = publisher((call) -> {
			if (call == 1) {
				return new KafkaException("away");
			}
			return (call == 2 || call == 3) ? new Untold() : null;
		})) {
			List<Delivery> deliveries = new ArrayList<>();
			for (int offset = 0; offset < 3; offset++) {
				deliveries.add(publish(publisher, offset));
			}

			deliveries.forEach(DeadLetterWriteFailureTests::awaitSettled);
			assertThat(publisher.waiting()).isZero();
		}
	}

	@Test
	void topicThatIsAwayHoldsNoLettersForAnother() {
		this.firstPause = Duration.ofHours(1);
		this.maxPause = Duration.ofHours(1);
		try (DeadLetterPublisher publisher = publisher((call) -> null, (source, topic, kind) -> {
			if (topic.equals("orders-dlq")) {
				throw new QueueException("'orders-dlq' is away", null);
			}
		})) {
			Delivery away = publish(publisher, 0);
			QueueApp.eventually().until(() -> away.state() == DeliveryState.DEAD_LETTER_HELD);
			this.destination = new Destination(Destination.Kind.DEAD_LETTER, "orders-test-dlq", 0);

			awaitSettled(publish(publisher, 1));
			assertThat(away.state()).isEqualTo(DeliveryState.DEAD_LETTER_HELD);
			assertThat(publisher.problem()).isEqualTo("'orders-dlq' is away");
		}
	}

	@Test
	void letterThatIsTooLargeIsWrittenWithoutMessageAndStackTrace(CapturedOutput output) {
		try (DeadLetterPublisher publisher = publisher((call) -> (call == 1) ? tooLarge() : null)) {
			awaitSettled(publish(publisher, 0));

			assertThat(this.sent).hasSize(2);
			assertThat(headers(this.sent.get(0))).contains(KafkaHeaders.DLT_EXCEPTION_MESSAGE,
					KafkaHeaders.DLT_EXCEPTION_STACKTRACE);
			assertThat(headers(this.sent.get(1)))
				.contains(KafkaHeaders.DLT_EXCEPTION_FQCN, KafkaHeaders.DLT_ORIGINAL_OFFSET, DeadLetterHeaders.REASON)
				.doesNotContain(KafkaHeaders.DLT_EXCEPTION_MESSAGE, KafkaHeaders.DLT_EXCEPTION_STACKTRACE);
			assertThat(publisher.problem()).isNull();
			QueueApp.eventually()
				.until(() -> output.getAll().contains("after 1 attempts without message and stack trace"));
		}
	}

	@Test
	void problemNamesLettersThatAreTooLargeAlthoughOthersAreWritten(CapturedOutput output) {
		this.maxPause = Duration.ofSeconds(2);
		try (DeadLetterPublisher publisher = publisher((call) -> (call <= 2) ? tooLarge() : null)) {
			Delivery large = publish(publisher, 0);
			QueueApp.eventually().until(() -> large.state() == DeliveryState.DEAD_LETTER_HELD);
			Delivery small = publish(publisher, 1);
			awaitSettled(small);

			assertThat(publisher.problem())
				.isEqualTo("1 record is too large for 'orders-dlq'; raise max.message.bytes of the topic");
			assertThat(output).contains("orders-0@0 is too large for 'orders-dlq'",
					"raise the topic's max.message.bytes");

			awaitSettled(large);
			assertThat(headers(this.sent.get(3))).contains(KafkaHeaders.DLT_EXCEPTION_STACKTRACE);
			assertThat(publisher.problem()).isNull();
		}
	}

	@Test
	void D2_stubTakesThePlaceOfALetterThatIsTooLarge() {
		this.onTooLarge = TooLarge.STUB;
		try (DeadLetterPublisher publisher = publisher((call) -> (call <= 2) ? tooLarge() : null)) {
			awaitSettled(publish(publisher, 0));

			assertThat(this.sent).hasSize(3);
			assertThat(this.sent.get(1).value()).isNotNull();
			ProducerRecord<byte[], byte[]> stub = this.sent.get(2);
			assertThat(stub.value()).isNull();
			assertThat(headers(stub)).contains(KafkaHeaders.DLT_ORIGINAL_TOPIC, KafkaHeaders.DLT_ORIGINAL_OFFSET,
					DeadLetterHeaders.REASON, DeadLetterHeaders.DROPPED_BYTES);
			assertThat(publisher.problem()).isNull();
		}
	}

	@Test
	void D2_letterOfWhichTheStubIsTooLargeIsHeld() {
		this.onTooLarge = TooLarge.STUB;
		this.maxPause = Duration.ofSeconds(30);
		try (DeadLetterPublisher publisher = publisher((call) -> tooLarge())) {
			Delivery delivery = publish(publisher, 0);

			QueueApp.eventually().until(() -> delivery.state() == DeliveryState.DEAD_LETTER_HELD);
			assertThat(this.sent).hasSize(3);
			assertThat(publisher.problem()).startsWith("1 record is too large");
		}
	}

	@Test
	void recordTooLargeForItsRetryTopicGoesToTheDeadLetterTopicWhole() {
		this.fallback = this.destination;
		this.destination = new Destination(Destination.Kind.RETRY, "orders-retry", 1);
		this.onTooLarge = TooLarge.STUB;
		try (DeadLetterPublisher publisher = publisher((call) -> (call <= 2) ? tooLarge() : null)) {
			awaitSettled(publish(publisher, 0));

			assertThat(this.sent).extracting(ProducerRecord::topic)
				.containsExactly("orders-retry", "orders-retry", "orders-dlq");
			assertThat(this.sent.get(2).value()).isNotNull();
			assertThat(publisher.published(DeadLetterReason.TOO_LARGE)).isOne();
			assertThat(publisher.redirected(Destination.Kind.RETRY)).isZero();
			assertThat(publisher.waiting()).isZero();
		}
	}

	@Test
	void problemForgetsLettersThatWereLetGo() {
		this.maxPause = Duration.ofSeconds(30);
		try (DeadLetterPublisher publisher = publisher((call) -> tooLarge())) {
			Delivery large = publish(publisher, 0);
			QueueApp.eventually().until(() -> publisher.problem() != null);

			assertThat(large.letGoIfIdle()).isTrue();

			assertThat(publisher.problem()).isNull();
		}
	}

	@Test
	void heldLettersAreLetGoByADrain() {
		this.firstPause = Duration.ofSeconds(30);
		this.maxPause = Duration.ofSeconds(30);
		try (DeadLetterPublisher publisher = publisher((call) -> new KafkaException("away"))) {
			Delivery first = publish(publisher, 0);
			Delivery second = publish(publisher, 1);
			QueueApp.eventually()
				.until(() -> first.state() == DeliveryState.DEAD_LETTER_HELD
						&& second.state() == DeliveryState.DEAD_LETTER_HELD);

			assertThat(first.letGoIfIdle()).isTrue();
			assertThat(second.letGoIfIdle()).isTrue();

			assertThat(this.assignment.outstanding()).isZero();
		}
	}

	@Test
	void letterLetGoWhileItWasHeldIsNotWritten() {
		this.firstPause = Duration.ofSeconds(1);
		this.maxPause = Duration.ofSeconds(1);
		try (DeadLetterPublisher publisher = publisher((call) -> (call == 1) ? new KafkaException("away") : null)) {
			Delivery delivery = publish(publisher, 0);
			QueueApp.eventually().until(() -> delivery.state() == DeliveryState.DEAD_LETTER_HELD);
			delivery.letGoIfIdle();

			QueueApp.eventually().until(() -> publisher.waiting() == 0);
			assertThat(this.sent).hasSize(1);
			assertThat(delivery.state()).isEqualTo(DeliveryState.LET_GO);
		}
	}

	/*
	 * Kafka's producer may be of no use for good, for instance if it was not let in when
	 * it asked for its id.
	 */
	@Test
	void letterIsWrittenByANewProducerIfTheOldOneIsOfNoUse() {
		Producers producers = new Producers(new TimeoutException("Expiring 1 record"));
		try (DeadLetterPublisher publisher = new DeadLetterPublisher(settings(), producers, (source, topic, kind) -> {
		}, System::nanoTime)) {
			awaitSettled(publish(publisher, 0));

			assertThat(producers.renewals).hasValue(1);
		}
	}

	@Test
	void producerIsKeptWhileARightIsMissing() {
		Producers producers = new Producers(new TopicAuthorizationException("orders-dlq"));
		try (DeadLetterPublisher publisher = new DeadLetterPublisher(settings(), producers, (source, topic, kind) -> {
		}, System::nanoTime)) {
			Delivery delivery = publish(publisher, 0);
			QueueApp.eventually().until(() -> publisher.failures() > 2);

			assertThat(producers.renewals).hasValue(0);
			delivery.letGo();
		}
	}

	@Test
	void drainWaitsForTheAnswerOfTheBroker() {
		Producer<byte[], byte[]> silent = mock();
		given(silent.send(any(), any())).willAnswer((call) -> {
			this.callbacks.add(call.getArgument(1));
			return null;
		});
		try (DeadLetterPublisher publisher = publisher(silent, (source, topic, kind) -> {
		})) {
			Delivery delivery = publish(publisher, 0);
			QueueApp.eventually().until(() -> this.callbacks.size() == 1);
			assertThat(delivery.letGoIfIdle()).isFalse();

			this.callbacks.get(0).onCompletion(null, null);

			assertThat(delivery.state()).isEqualTo(DeliveryState.REDIRECTED);
		}
	}

	/*
	 * The producer threw, so that the letter is held, and had taken the record after all.
	 */
	@Test
	void heldLetterIsSettledByALateAnswerAndNotWrittenAgain() {
		this.firstPause = Duration.ofSeconds(1);
		this.maxPause = Duration.ofSeconds(1);
		Producer<byte[], byte[]> throwing = mock();
		given(throwing.send(any(), any())).willAnswer((call) -> {
			this.callbacks.add(call.getArgument(1));
			if (this.callbacks.size() == 1) {
				throw new KafkaException("refused");
			}
			return null;
		});
		try (DeadLetterPublisher publisher = publisher(throwing, (source, topic, kind) -> {
		})) {
			Delivery delivery = publish(publisher, 0);
			QueueApp.eventually().until(() -> delivery.state() == DeliveryState.DEAD_LETTER_HELD);

			this.callbacks.get(0).onCompletion(null, null);

			assertThat(delivery.state()).isEqualTo(DeliveryState.REDIRECTED);
			awaitSettled(publish(publisher, 1, () -> this.callbacks.get(1).onCompletion(null, null)));
			assertThat(this.callbacks).hasSize(2);
			assertThat(publisher.published(DeadLetterReason.NACK)).isEqualTo(2);
		}
	}

	private Delivery publish(DeadLetterPublisher publisher, long offset, Runnable answer) {
		Delivery delivery = publish(publisher, offset);
		QueueApp.eventually().until(() -> this.callbacks.size() > offset);
		answer.run();
		return delivery;
	}

	private Delivery publish(DeadLetterPublisher publisher, long offset) {
		Delivery delivery = this.assignment.admit(Records.record(Records.partition(0), offset, 10),
				RecordContext.DEFAULT, 0);
		delivery.move(DeliveryState.QUEUED, DeliveryState.DEAD_LETTERING);
		publisher.publish(delivery, new Failure(DeadLetterReason.NACK, 1, new IllegalStateException("of the handler")),
				this.destination);
		return delivery;
	}

	private static void awaitSettled(Delivery delivery) {
		QueueApp.eventually().until(() -> delivery.state() == DeliveryState.REDIRECTED);
	}

	private static List<String> headers(ProducerRecord<byte[], byte[]> record) {
		List<String> names = new ArrayList<>();
		record.headers().forEach((header) -> names.add(header.key()));
		return names;
	}

	private static Throwable missingLibrary() {
		return new NoClassDefFoundError("org/xerial/snappy/Snappy");
	}

	private static Throwable tooLarge() {
		return new RecordTooLargeException("as the broker says");
	}

	private DeadLetterPublisher publisher(Answer answer) {
		return publisher(answer, (source, topic, kind) -> {
		});
	}

	private DeadLetterPublisher publisher(Answer answer, DeadLetterTopics topics) {
		Producer<byte[], byte[]> producer = mock();
		given(producer.send(any(), any())).willAnswer((call) -> {
			this.sent.add(call.getArgument(0));
			Throwable error = answer.to(this.sent.size());
			if (error instanceof RecordTooLargeException ex && !(error instanceof Untold)) {
				call.<Callback>getArgument(1).onCompletion(null, ex);
				return null;
			}
			if (error != null) {
				throw error;
			}
			call.<Callback>getArgument(1).onCompletion(null, null);
			return null;
		});
		return publisher(producer, topics);
	}

	private DeadLetterPublisher publisher(Producer<byte[], byte[]> producer, DeadLetterTopics topics) {
		return new DeadLetterPublisher(settings(), () -> producer, topics, System::nanoTime);
	}

	private DeadLetterSettings settings() {
		return new DeadLetterSettings("orders", "group", (delivery) -> this.fallback, this.onTooLarge, this.firstPause,
				this.maxPause);
	}

	/** A producer that always fails, until it is renewed. */
	private static final class Producers implements DeadLetterProducers {

		private final Exception error;

		private final AtomicInteger renewals = new AtomicInteger();

		Producers(Exception error) {
			this.error = error;
		}

		@Override
		public Producer<byte[], byte[]> get() {
			Producer<byte[], byte[]> producer = mock();
			Exception answer = (this.renewals.get() == 0) ? this.error : null;
			given(producer.send(any(), any())).willAnswer((call) -> {
				call.<Callback>getArgument(1).onCompletion(null, answer);
				return null;
			});
			return producer;
		}

		@Override
		public void renew() {
			this.renewals.incrementAndGet();
		}

	}

	/** What becomes of a write. */
	private interface Answer {

		@Nullable Throwable to(int call);

	}

	/** Too large, and not willing to say so. */
	private static final class Untold extends RecordTooLargeException {

		private static final long serialVersionUID = 1;

		@Override
		public String getMessage() {
			throw new IllegalStateException("No message");
		}

	}

}
