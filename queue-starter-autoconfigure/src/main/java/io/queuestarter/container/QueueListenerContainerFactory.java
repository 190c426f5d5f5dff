package io.queuestarter.container;

import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;

import org.apache.kafka.clients.consumer.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.KafkaListenerEndpoint;
import org.springframework.kafka.config.MethodKafkaListenerEndpoint;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.listener.AcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchAcknowledgingConsumerAwareMessageListener;
import org.springframework.kafka.listener.BatchInterceptor;
import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.RecordInterceptor;
import org.springframework.kafka.listener.adapter.FilteringBatchMessageListenerAdapter;
import org.springframework.kafka.support.converter.RecordMessageConverter;
import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.QueueListener;
import io.queuestarter.browse.Spelling;
import io.queuestarter.handler.AnsweringHandlerMethodFactory;
import io.queuestarter.handler.AttemptObserver;
import io.queuestarter.handler.AttemptOpener;
import io.queuestarter.handler.BatchHandlerRunner;
import io.queuestarter.handler.HandlerRunner;
import io.queuestarter.handler.OnDemandMessageConverter;
import io.queuestarter.handler.RecordDecoder;
import io.queuestarter.handler.Surroundings;

/**
 * Makes the containers of {@link QueueListener} methods. Spring Kafka builds the adapter
 * that resolves arguments and calls the method; it is called by workers, while the
 * container itself only polls.
 */
public final class QueueListenerContainerFactory extends ConcurrentKafkaListenerContainerFactory<byte[], byte[]> {

	private final ConsumerFactory<?, ?> consumerFactory;

	private final QueueDefinitions definitions;

	private final QueueSettingsSource settings;

	private final QueueRuntime runtime;

	private final Queues queues;

	private final MessageHandlerMethodFactory handlerMethods;

	private boolean mdc = true;

	private @Nullable AttemptObserver observer;

	/** The queue whose container is being made; Spring Kafka makes one at a time. */
	private @Nullable Queue current;

	/** The lane handler whose container is being made. */
	private @Nullable LaneHandler currentLane;

	private final Map<String, Bound> bound = new HashMap<>();

	private final Map<LaneHandler, Object> laneAdapters = new HashMap<>();

	/**
	 * Creates a factory.
	 * @param consumerFactory the application's consumer factory
	 * @param definitions the queues found
	 * @param settings tells their settings
	 * @param runtime what queues share
	 * @param queues where the queues are entered
	 * @param handlerMethods makes methods that resolve their arguments as Spring Kafka
	 * does
	 */
	public QueueListenerContainerFactory(ConsumerFactory<?, ?> consumerFactory, QueueDefinitions definitions,
			QueueSettingsSource settings, QueueRuntime runtime, Queues queues,
			MessageHandlerMethodFactory handlerMethods) {
		this.consumerFactory = consumerFactory;
		this.definitions = definitions;
		this.settings = settings;
		this.runtime = runtime;
		this.queues = queues;
		this.handlerMethods = handlerMethods;
		setRecordMessageConverter(new OnDemandMessageConverter());
	}

	@Override
	public void setRecordMessageConverter(RecordMessageConverter recordMessageConverter) {
		super.setRecordMessageConverter(recordMessageConverter);
		setBatchMessageConverter(new StrictBatchConverter(recordMessageConverter));
	}

	/**
	 * Whether the MDC tells which record is handled.
	 * @param enabled {@code false} to leave it empty; {@code true} unless set
	 */
	public void setMdc(boolean enabled) {
		this.mdc = enabled;
	}

	/**
	 * Has attempts observed.
	 * @param attemptObserver who observes them
	 */
	public void setAttemptObserver(AttemptObserver attemptObserver) {
		this.observer = attemptObserver;
	}

	@Override
	public synchronized ConcurrentMessageListenerContainer<byte[], byte[]> createListenerContainer(
			KafkaListenerEndpoint endpoint) {
		LaneHandler laneHandler = this.definitions.findLaneHandler(endpoint.getId());
		if (laneHandler != null && endpoint instanceof MethodKafkaListenerEndpoint<?, ?> methodEndpoint) {
			return createLaneHandler(laneHandler, methodEndpoint);
		}
		QueueDefinition definition = this.definitions.find(endpoint.getId());
		if (definition == null || !(endpoint instanceof MethodKafkaListenerEndpoint<?, ?> methodEndpoint)) {
			throw new QueueConfigurationException(
					"Listener '" + endpoint.getId() + "' names '" + QueueListener.CONTAINER_FACTORY
							+ "' but is no @QueueListener.",
					"Annotate the method with @QueueListener, or name another container factory.");
		}
		QueueSettings queueSettings = this.settings.settingsOf(definition);
		QueueChecks checks = new QueueChecks(definition, endpoint, this.consumerFactory.getConfigurationProperties());
		String group = checks.group(queueSettings) + queueSettings.lanes().groupSuffix();
		checks.consumer(queueSettings);
		Queue queue = new Queue(queueSettings, group, checks.subscription(), this.runtime);
		checks.deadLetters(queueSettings, queue.subscription());
		checks.ownTopics(queueSettings, queue.subscription());
		checks.sharing(queue, this.queues.all());
		methodEndpoint.setGroupId(group);
		methodEndpoint.setBatchListener(queueSettings.workers().batch() != null);
		methodEndpoint.setAckDiscarded(true);
		methodEndpoint.setMessageHandlerMethodFactory(new AnsweringHandlerMethodFactory(this.handlerMethods));
		this.current = queue;
		try {
			ConcurrentMessageListenerContainer<byte[], byte[]> container = super.createListenerContainer(endpoint);
			bind(queue, container, endpoint.getConsumerProperties());
			this.queues.add(queue);
			this.laneAdapters.forEach(this::bindLane);
			return container;
		}
		finally {
			this.current = null;
		}
	}

	private ConcurrentMessageListenerContainer<byte[], byte[]> createLaneHandler(LaneHandler handler,
			MethodKafkaListenerEndpoint<?, ?> endpoint) {
		refuseLate(handler);
		endpoint.setGroupId(handler.definition().id());
		endpoint.setBatchListener(handler.definition().takesBatch());
		endpoint.setAckDiscarded(true);
		endpoint.setMessageHandlerMethodFactory(new AnsweringHandlerMethodFactory(this.handlerMethods));
		this.currentLane = handler;
		try {
			ConcurrentMessageListenerContainer<byte[], byte[]> container = super.createListenerContainer(endpoint);
			Object adapter = adapterOf(container);
			this.laneAdapters.put(handler, adapter);
			bindLane(handler, adapter);
			return container;
		}
		finally {
			this.currentLane = null;
		}
	}

	/** Its records would have been handled by the queue's own method until now. */
	private void refuseLate(LaneHandler handler) {
		Bound binding = this.bound.get(handler.queue());
		if (binding != null && binding.queue().isStarted()) {
			throw new QueueConfigurationException(
					handler.methodName() + " handles lane '" + handler.lane() + "' of queue '" + handler.queue()
							+ "', which has started without it and handles these records itself.",
					"Have its bean created at start-up: it must not be lazy.");
		}
	}

	/** Queue and lane handler come in any order, but before the queue starts. */
	private void bindLane(LaneHandler handler, Object adapter) {
		Bound queue = this.bound.get(handler.queue());
		if (queue != null) {
			queue.queue()
				.lanes()
				.engines()
				.stream()
				.filter((engine) -> engine.lane().equals(handler.lane()))
				.forEach((engine) -> bind(engine, adapter, queue.decoders().get(), queue.queue()));
		}
	}

	private void check(LaneHandler handler) {
		Queue queue = this.queues.find(handler.queue()).orElse(null);
		if (queue == null) {
			throw new QueueConfigurationException(
					handler.methodName() + " handles a lane of queue '" + handler.queue() + "', which does not exist.",
					"Name the 'id' of another @QueueListener; there are " + this.definitions.ids() + "."
							+ Spelling.suggestion(handler.queue(), this.definitions.ids()));
		}
		Set<String> lanes = queue.settings().lanes().rules().lanes();
		if (!queue.settings().lanes().rules().knows(handler.lane())) {
			throw new QueueConfigurationException(
					handler.methodName() + " handles lane '" + handler.lane() + "', which queue '" + handler.queue()
							+ "' does not have; there are " + lanes + ".",
					"Name another lane, or add it to kafka-queue.listeners." + handler.queue() + ".lanes.named"
							+ ((lanes.size() == 1) ? " and set lanes.header." : ".")
							+ Spelling.suggestion(handler.lane(), lanes));
		}
		if (handler.definition().takesBatch() != (queue.settings().workers().batch() != null)) {
			throw new QueueConfigurationException(handler.methodName() + " and the method of queue '" + handler.queue()
					+ "' must both take a List, or both take one record.", "Change one of them.");
		}
	}

	private static Object adapterOf(ConcurrentMessageListenerContainer<byte[], byte[]> container) {
		Object adapter = Objects.requireNonNull(container.getContainerProperties().getMessageListener());
		if (adapter instanceof FilteringBatchMessageListenerAdapter) {
			throw new QueueConfigurationException(
					"'" + QueueListener.CONTAINER_FACTORY + "' was given a RecordFilterStrategy, and queue '"
							+ container.getListenerId()
							+ "' takes batches, whose records could not be named by their index then.",
					"Remove it, and skip records in the handler.");
		}
		return adapter;
	}

	private void bind(Queue queue, ConcurrentMessageListenerContainer<byte[], byte[]> container,
			@Nullable Properties properties) {
		Object adapter = adapterOf(container);
		QueueConsumerFactory factory = new QueueConsumerFactory(this.consumerFactory, queue);
		Bound binding = new Bound(queue, () -> factory.decoder(properties));
		this.bound.put(queue.id(), binding);
		queue.lanes().engines().forEach((engine) -> bind(engine, adapter, binding.decoders().get(), queue));
		queue.bind(container);
	}

	@SuppressWarnings("unchecked")
	private void bind(QueueEngine engine, Object adapter, RecordDecoder decoder, Queue queue) {
		String id = queue.id();
		if (this.observer != null) {
			this.observer.prepare(adapter);
		}
		Surroundings surroundings = new Surroundings(id, queue.group(), this.mdc, this.observer);
		AttemptOpener opener = new AttemptOpener(engine.settler(), this.runtime.time(),
				engine.settings().timeouts().attempt(), engine.circuits());
		if (adapter instanceof BatchAcknowledgingConsumerAwareMessageListener<?, ?>) {
			engine.bind(new BatchHandlerRunner(decoder,
					(BatchAcknowledgingConsumerAwareMessageListener<Object, Object>) adapter, guard(id), opener,
					surroundings));
		}
		else {
			engine.bind(new HandlerRunner(decoder, (AcknowledgingConsumerAwareMessageListener<Object, Object>) adapter,
					guard(id), opener, surroundings));
		}
	}

	@Override
	protected ConcurrentMessageListenerContainer<byte[], byte[]> createContainerInstance(
			KafkaListenerEndpoint endpoint) {
		LaneHandler handler = this.currentLane;
		if (handler != null) {
			return new LaneHandlerContainer(new ContainerProperties(handler.queue()), () -> check(handler));
		}
		Queue queue = Objects.requireNonNull(this.current, "Only createListenerContainer makes queues");
		Collection<String> topics = endpoint.getTopics();
		ContainerProperties properties = (topics != null && !topics.isEmpty())
				? new ContainerProperties(queue.subscription().toArray(new String[0]))
				: new ContainerProperties(Objects.requireNonNull(endpoint.getTopicPattern()));
		return new QueueMessageListenerContainer(new QueueConsumerFactory(this.consumerFactory, queue), properties,
				queue);
	}

	@Override
	public void setRecordInterceptor(RecordInterceptor<byte[], byte[]> recordInterceptor) {
		throw refused("a RecordInterceptor");
	}

	@Override
	public void setBatchInterceptor(BatchInterceptor<byte[], byte[]> batchInterceptor) {
		throw refused("a BatchInterceptor");
	}

	@Override
	public void setCommonErrorHandler(CommonErrorHandler commonErrorHandler) {
		throw refused("a CommonErrorHandler");
	}

	private static QueueConfigurationException refused(String what) {
		return new QueueConfigurationException(
				"'" + QueueListener.CONTAINER_FACTORY + "' was given " + what + ", which queues do not call.",
				"Remove it; what happens to failed records is set by kafka-queue.*.retry and kafka-queue.*.dlq.");
	}

	private static Consumer<?, ?> guard(String id) {
		return (Consumer<?, ?>) Proxy.newProxyInstance(QueueListenerContainerFactory.class.getClassLoader(),
				new Class<?>[] { Consumer.class }, (proxy, method, args) -> {
					if (method.getDeclaringClass() == Object.class) {
						return switch (method.getName()) {
							case "equals" -> args != null && proxy == args[0];
							case "hashCode" -> System.identityHashCode(proxy);
							default -> "Consumer of queue '" + id + "', closed to handlers";
						};
					}
					throw new UnsupportedOperationException("Handlers of queue '" + id
							+ "' run beside the consumer's thread and must not use the consumer");
				});
	}

	/**
	 * A queue whose method is bound to its lanes.
	 *
	 * @param queue the queue
	 * @param decoders makes a decoder of its records; each engine has its own
	 */
	private record Bound(Queue queue, Supplier<RecordDecoder> decoders) {

	}

}
