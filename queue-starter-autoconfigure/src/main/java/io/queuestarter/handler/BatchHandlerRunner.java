package io.queuestarter.handler;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.dispatch.BatchRunner;
import io.queuestarter.dispatch.Taken;

/**
 * Makes one attempt for each record of a batch by one call of the handler. A record that
 * is not decodable is no part of the call. <em>Thread-safe.</em>
 */
public final class BatchHandlerRunner implements BatchRunner<Delivery> {

	private final RecordDecoder decoder;

	private final BatchAcknowledgingConsumerAwareMessageListener<Object, Object> listener;

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
	public BatchHandlerRunner(RecordDecoder decoder,
			BatchAcknowledgingConsumerAwareMessageListener<Object, Object> listener, Consumer<?, ?> consumer,
			AttemptOpener opener, Surroundings surroundings) {
		this.decoder = decoder;
		this.listener = listener;
		this.consumer = consumer;
		this.opener = opener;
		this.surroundings = surroundings;
	}

	@Override
	public Collection<Taken<Delivery>> run(List<Taken<Delivery>> batch) {
		List<Taken<Delivery>> ended = new ArrayList<>(batch.size());
		List<Taken<Delivery>> begun = new ArrayList<>(batch.size());
		List<Attempt> attempts = new ArrayList<>(batch.size());
		for (Taken<Delivery> taken : batch) {
			Attempt attempt = this.opener.open(taken.task(), taken.slot());
			if (attempt != null) {
				begun.add(taken);
				attempts.add(attempt);
			}
			else {
				ended.add(taken);
			}
		}
		BatchCall call = new BatchCall(attempts, this.opener.answers());
		call(call, attempts);
		for (int index = 0; index < attempts.size(); index++) {
			Attempt attempt = attempts.get(index);
			if (!(call.isAwaited() && attempt.detach()) && attempt.end()) {
				ended.add(begun.get(index));
			}
		}
		return ended;
	}

	private void call(BatchCall call, List<Attempt> attempts) {
		Runnable end = null;
		try {
			end = this.surroundings.begin(attempts);
			call.enter();
			List<ConsumerRecord<Object, Object>> records = call.decode(this.decoder);
			if (!records.isEmpty()) {
				this.listener.onMessage(records, call, this.consumer);
			}
			if (!call.isAwaited()) {
				call.handled();
			}
		}
		catch (Throwable ex) {
			call.failed(ex);
		}
		finally {
			if (end != null) {
				end.run();
			}
			call.leave();
		}
	}

}
