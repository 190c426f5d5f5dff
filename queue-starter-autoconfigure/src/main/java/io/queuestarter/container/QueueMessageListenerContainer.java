package io.queuestarter.container;

import java.time.Duration;

import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.ContainerProperties.AckMode;
import org.springframework.kafka.listener.ContainerProperties.AssignmentCommitOption;

/**
 * Spring Kafka's container with what a queue needs of it, whatever a customizer did: it
 * polls and hands over, and commits nothing.
 */
final class QueueMessageListenerContainer extends ConcurrentMessageListenerContainer<byte[], byte[]> {

	/** Time for the last commit and the consumer's close, beside the drain. */
	private static final Duration CLOSE_MARGIN = Duration.ofSeconds(20);

	/** Time between two tries while the broker denies access. */
	private static final Duration AUTHORIZATION_PAUSE = Duration.ofSeconds(10);

	private final Queue queue;

	private final IntakeListener listener = new IntakeListener();

	QueueMessageListenerContainer(ConsumerFactory<byte[], byte[]> consumerFactory,
			ContainerProperties containerProperties, Queue queue) {
		super(consumerFactory, containerProperties);
		this.queue = queue;
	}

	@Override
	protected void doStart() {
		if (!isRunning()) {
			prepare();
			this.queue.starting();
		}
		super.doStart();
	}

	private void prepare() {
		ContainerProperties properties = getContainerProperties();
		properties.setMessageListener(this.listener);
		properties.setAckMode(AckMode.MANUAL);
		properties.setAsyncAcks(false);
		properties.setAssignmentCommitOption(AssignmentCommitOption.NEVER);
		properties.setSubBatchPerPartition(false);
		properties.setIdleBetweenPolls(0);
		properties.setKafkaAwareTransactionManager(null);
		properties.setMicrometerEnabled(false);
		properties.setObservationEnabled(false);
		properties.setShutdownTimeout(this.queue.settings().drainTimeout().plus(CLOSE_MARGIN).toMillis());
		if (properties.getAuthExceptionRetryInterval() == null) {
			properties.setAuthExceptionRetryInterval(AUTHORIZATION_PAUSE);
		}
		setCommonErrorHandler(new QueueErrorHandler(this.queue));
		setRecordInterceptor(null);
		setBatchInterceptor(null);
	}

}
