package io.queuestarter.handler;

import org.apache.kafka.clients.consumer.Consumer;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;

import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.TaskRunner;
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

	private final AttemptOpener opener;

	private final Surroundings surroundings;

	/**
	 * Creates a runner.
	 * @param decoder decodes records
	 * @param listener calls the user's method
	 * @param consumer what a method that asks for the consumer gets
	 * @param answers who receives the answers
	 * @param time where the time is read
	 * @param timeout longest time of an attempt
	 * @param circuits tell what a record depends on
	 * @param surroundings what handlers find on their thread
	 */
	public HandlerRunner(RecordDecoder decoder, AcknowledgingConsumerAwareMessageListener<Object, Object> listener,
			Consumer<?, ?> consumer, Answers answers, TimeSource time, AttemptTimeout timeout, Circuits circuits,
			Surroundings surroundings) {
		this.decoder = decoder;
		this.listener = listener;
		this.consumer = consumer;
		this.answers = answers;
		this.opener = new AttemptOpener(answers, time, timeout, circuits);
		this.surroundings = surroundings;
	}

	@Override
	public boolean run(Delivery delivery, int slot) {
		Attempt attempt = this.opener.open(delivery, slot);
		if (attempt == null) {
			return true;
		}
		HandlerScope scope = null;
		try {
			scope = this.surroundings.begin(attempt);
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
			if (scope != null) {
				scope.close();
			}
			attempt.leave();
		}
		return !(attempt.isAwaited() && attempt.detach()) && attempt.end();
	}

}
