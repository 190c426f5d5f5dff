package io.queuestarter.container;

import java.util.Map;

import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;

/**
 * What Spring Kafka gets for a {@link LaneHandler}: a container that consumes nothing,
 * since the queue does.
 */
final class LaneHandlerContainer extends ConcurrentMessageListenerContainer<byte[], byte[]> {

	private final Runnable check;

	/**
	 * Creates a container.
	 * @param check fails if there is no such lane
	 */
	LaneHandlerContainer(ContainerProperties properties, Runnable check) {
		super(new DefaultKafkaConsumerFactory<>(Map.of()), properties);
		this.check = check;
	}

	@Override
	protected void doStart() {
		this.check.run();
		setRunning(true);
	}

	@Override
	protected void doStop(Runnable callback, boolean normal) {
		setRunning(false);
		callback.run();
	}

}
