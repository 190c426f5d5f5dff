package io.queuestarter.container;

import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * What the container does with errors of its own thread. Failures of handlers never come
 * here. An error of a poll is logged and polled over; if records cannot be taken over,
 * the queue stops and its partitions go to other members. Nothing is committed.
 */
final class QueueErrorHandler implements CommonErrorHandler {

	private static final Logger LOGGER = LoggerFactory.getLogger(QueueErrorHandler.class);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final Queue queue;

	QueueErrorHandler(Queue queue) {
		this.queue = queue;
	}

	@Override
	public boolean isAckAfterHandle() {
		return false;
	}

	@Override
	public void handleOtherException(Exception error, Consumer<?, ?> consumer, MessageListenerContainer container,
			boolean batchListener) {
		this.queue.pollFailed(error);
		LOGGER.error("Poll of queue '{}' failed; it polls again in {}", this.queue.id(), PAUSE, error);
		LockSupport.parkNanos(PAUSE.toNanos());
	}

	@Override
	public void handleBatch(Exception error, ConsumerRecords<?, ?> records, Consumer<?, ?> consumer,
			MessageListenerContainer container, Runnable invokeListener) {
		LOGGER.error("Queue '{}' could not take over {} records and stops; they are delivered again", this.queue.id(),
				records.count(), error);
		// Elsewhere, since a stop may wait for this thread.
		ForkJoinPool.commonPool().execute(() -> container.stopAbnormally(() -> {
		}));
	}

}
