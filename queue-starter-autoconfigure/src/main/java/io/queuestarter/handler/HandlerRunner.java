package io.queuestarter.handler;

import org.apache.kafka.clients.consumer.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;

import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.TaskRunner;
import io.queuestarter.outage.Circuit;
import io.queuestarter.outage.Circuits;

/**
 * Makes one attempt on a worker thread: opens it, calls the handler, and passes on the
 * answer if the return or an exception is the answer. <em>Thread-safe.</em>
 */
public final class HandlerRunner implements TaskRunner<Delivery> {

	private final RecordDecoder decoder;

	private final AcknowledgingConsumerAwareMessageListener<Object, Object> listener;

	private final Consumer<?, ?> consumer;

	private final Answers answers;

	private final TimeSource time;

	private final AttemptTimeout timeout;

	private final Circuits circuits;

	/**
	 * Creates a runner.
	 * @param decoder decodes records
	 * @param listener calls the user's method
	 * @param consumer what a method that asks for the consumer gets
	 * @param answers who receives the answers
	 * @param time where the time is read
	 * @param timeout longest time of an attempt
	 * @param circuits tell what a record depends on
	 */
	public HandlerRunner(RecordDecoder decoder, AcknowledgingConsumerAwareMessageListener<Object, Object> listener,
			Consumer<?, ?> consumer, Answers answers, TimeSource time, AttemptTimeout timeout, Circuits circuits) {
		this.decoder = decoder;
		this.listener = listener;
		this.consumer = consumer;
		this.answers = answers;
		this.time = time;
		this.timeout = timeout;
		this.circuits = circuits;
	}

	/** Breakers and their keys are user code. */
	private @Nullable Attempt open(Delivery delivery, int slot) {
		Circuit acquired = null;
		try {
			Circuit circuit = this.circuits.of(delivery.record());
			if (!circuit.tryAcquire()) {
				this.answers.refused(delivery, circuit);
				return null;
			}
			acquired = circuit;
			Attempt attempt = delivery.start(this.answers, slot, this.time, this.timeout, circuit);
			if (attempt == null) {
				circuit.released();
			}
			return attempt;
		}
		catch (Throwable ex) {
			if (acquired != null) {
				acquired.released();
			}
			this.answers.notStarted(delivery, ex);
			return null;
		}
	}

	@Override
	public boolean run(Delivery delivery, int slot) {
		Attempt attempt = open(delivery, slot);
		if (attempt == null) {
			return true;
		}
		try {
			attempt.enter();
			this.listener.onMessage(this.decoder.decode(attempt.record(), slot), attempt, this.consumer);
			if (!attempt.isAwaited()) {
				this.answers.handled(attempt);
			}
		}
		catch (Throwable ex) {
			this.answers.failed(attempt, ex);
		}
		finally {
			attempt.leave();
		}
		return !(attempt.isAwaited() && attempt.detach()) && attempt.end();
	}

}
