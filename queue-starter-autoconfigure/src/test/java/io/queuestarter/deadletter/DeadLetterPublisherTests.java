package io.queuestarter.deadletter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
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
 * A producer that throws although it has taken the record, and calls back as well, as
 * Kafka's does when it is refused its id between the two. The letter must neither be
 * written twice because it failed twice, nor be counted twice.
 */
class DeadLetterPublisherTests {

	private final List<Callback> callbacks = new CopyOnWriteArrayList<>();

	private final Delivery delivery = Records
		.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}))
		.admit(Records.record(Records.partition(0), 0, 10), RecordContext.DEFAULT, 0);

	@Test
	void letterThatFailsTwiceIsSentOnceMore() {
		try (DeadLetterPublisher publisher = publisher()) {
			publish(publisher);
			this.callbacks.get(0).onCompletion(null, new KafkaException("aborted"));
			QueueApp.eventually().until(() -> this.callbacks.size() >= 2);
			this.callbacks.get(1).onCompletion(null, null);

			assertSettledOnce(publisher);
			assertThat(this.callbacks).hasSize(2);
			assertThat(publisher.failures()).isOne();
		}
	}

	@Test
	void letterThatIsWrittenAfterAllIsCountedOnce() {
		try (DeadLetterPublisher publisher = publisher()) {
			publish(publisher);
			QueueApp.eventually().until(() -> this.callbacks.size() >= 2);
			this.callbacks.get(0).onCompletion(null, null);
			this.callbacks.get(1).onCompletion(null, null);

			assertSettledOnce(publisher);
		}
	}

	@Test
	void topicIsNotWaitedForWhenThePublisherIsClosed() {
		DeadLetterPublisher publisher = publisher();
		publisher.close();

		assertThat(publisher.prepare("orders", "orders-retry", Destination.Kind.RETRY, Duration.ZERO)).isDone();
	}

	private void publish(DeadLetterPublisher publisher) {
		this.delivery.move(DeliveryState.QUEUED, DeliveryState.DEAD_LETTERING);
		publisher.publish(this.delivery,
				new Failure(DeadLetterReason.NACK, 1, new IllegalStateException("of the handler")),
				new Destination(Destination.Kind.DEAD_LETTER, "orders-dlq", 0));
		QueueApp.eventually().until(() -> publisher.failures() > 0);
	}

	private void assertSettledOnce(DeadLetterPublisher publisher) {
		assertThat(this.delivery.state()).isEqualTo(DeliveryState.REDIRECTED);
		assertThat(publisher.waiting()).isZero();
		assertThat(publisher.published(DeadLetterReason.NACK)).isOne();
	}

	private DeadLetterPublisher publisher() {
		Producer<byte[], byte[]> producer = mock();
		given(producer.send(any(), any())).willAnswer((call) -> {
			this.callbacks.add(call.getArgument(1));
			if (this.callbacks.size() == 1) {
				throw new KafkaException("refused");
			}
			return null;
		});
		DeadLetterSettings settings = new DeadLetterSettings("orders", "group", (delivery) -> null, TooLarge.HOLD,
				Duration.ofMillis(10), Duration.ofMillis(20));
		return new DeadLetterPublisher(settings, () -> producer, (source, topic, kind) -> {
		}, System::nanoTime);
	}

}
