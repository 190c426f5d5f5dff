package io.queuestarter.handler;

import org.apache.kafka.clients.consumer.Consumer;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.dispatch.TaskRunner;

/**
 * Makes one attempt on a worker thread: opens it, calls the handler, and passes on the
 * answer if the return or an exception is the answer. <em>Thread-safe.</em>
 */
public final class HandlerRunner implements TaskRunner<Delivery> {

	private final RecordDecoder decoder;

	private final AcknowledgingConsumerAwareMessageListener<Object, Object> listener;

	private final Consumer<?, ?> consumer;

	private final AttemptOpener opener;

	private final Surroundings surroundings;

	/**
	 * Creates a runner.
	 * @param decoder decodes records
	 * @param listener calls the user's method
	 * @param consumer what a method that asks for the consumer gets
	 * @param opener opens the attempts
	 * @param surroundings what handlers find on their thread
	 */
	public HandlerRunner(RecordDecoder decoder, AcknowledgingConsumerAwareMessageListener<Object, Object> listener,
			Consumer<?, ?> consumer, AttemptOpener opener, Surroundings surroundings) {
		this.decoder = decoder;
		this.listener = listener;
		this.consumer = consumer;
		this.opener = opener;
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
				this.opener.answers().handled(attempt);
			}
		}
		catch (Throwable ex) {
			this.opener.answers().failed(attempt, ex);
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
