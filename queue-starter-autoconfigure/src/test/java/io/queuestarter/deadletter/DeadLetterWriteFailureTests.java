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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

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
 * Letters whose writes fail, also with an error of the virtual machine. Each is written
 * in the end, and none takes others with it.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeadLetterWriteFailureTests {

	private final Assignment assignment = Records
		.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}));

	private final List<ProducerRecord<byte[], byte[]>> sent = new CopyOnWriteArrayList<>();

	private Duration firstPause = Duration.ofMillis(10);

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
		try (DeadLetterPublisher publisher = publisher((call) -> null, (source, topic) -> {
			if (lookUps.incrementAndGet() == 1) {
				throw new NoClassDefFoundError("org/example/Login");
			}
		})) {
			publisher.prepare("orders");

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

	private Delivery publish(DeadLetterPublisher publisher, long offset) {
		Delivery delivery = this.assignment.admit(Records.record(Records.partition(0), offset, 10), 0);
		delivery.move(DeliveryState.QUEUED, DeliveryState.DEAD_LETTERING);
		publisher.publish(delivery, new Failure(DeadLetterReason.NACK, 1, new IllegalStateException("of the handler")));
		return delivery;
	}

	private static void awaitSettled(Delivery delivery) {
		QueueApp.eventually().until(() -> delivery.state() == DeliveryState.SETTLED);
	}

	private static Throwable missingLibrary() {
		return new NoClassDefFoundError("org/xerial/snappy/Snappy");
	}

	private DeadLetterPublisher publisher(Answer answer) {
		return publisher(answer, (source, topic) -> {
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
		DeadLetterSettings settings = new DeadLetterSettings("orders", "group", "{topic}-dlq", this.firstPause,
				this.maxPause);
		return new DeadLetterPublisher(settings, () -> producer, topics);
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
