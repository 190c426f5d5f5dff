package io.queuestarter.container;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Function;

import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;

import io.queuestarter.QueueCircuitKey;
import io.queuestarter.browse.DeadLetterBrowser;
import io.queuestarter.browse.LetterScanner;
import io.queuestarter.browse.SearchSettings;
import io.queuestarter.deadletter.DeadLetterProducers;
import io.queuestarter.deadletter.DeadLetterPublisher;
import io.queuestarter.deadletter.DeadLetterSettings;
import io.queuestarter.deadletter.DeadLetterTopics;
import io.queuestarter.deadletter.Destination;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.jobs.JobClients;
import io.queuestarter.outage.Circuits;

/**
 * What all queues of an application share: the timer, and the producer of dead letters.
 * <em>Thread-safe.</em>
 */
public final class QueueRuntime implements AutoCloseable {

	private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

	private static final Duration MAX_PAUSE = Duration.ofSeconds(30);

	/**
	 * What an application may have tuned for its producers and dead letters take over.
	 * Not among it is the size of a request: the limits that count are the topic's and
	 * the broker's, which took the record once.
	 */
	private static final Set<String> TUNING = Set.of(ProducerConfig.COMPRESSION_TYPE_CONFIG,
			ProducerConfig.BUFFER_MEMORY_CONFIG, ProducerConfig.BATCH_SIZE_CONFIG);

	/**
	 * Bounds also a request, below the 100 MiB that a broker takes unless told otherwise.
	 */
	private static final long MIN_BUFFER_BYTES = 64L * 1024 * 1024;

	private final TimeSource time;

	private final ScheduledExecutorService timer;

	private final Function<QueueSettings, WorkerThreads> workers;

	private final DefaultKafkaProducerFactory<byte[], byte[]> producers;

	private final Function<QueueSettings, DeadLetterTopics> topics;

	private final Map<String, Object> consumerProperties;

	private final Map<String, Object> adminProperties;

	private final JobClients jobClients;

	/** Read and written under this object's lock. */
	private @Nullable Admin admin;

	private final CircuitBreakerRegistry breakers;

	private final @Nullable QueueCircuitKey circuitKey;

	/**
	 * Creates a runtime.
	 * @param time where the time is read
	 * @param consumerProperties how the queues' consumers connect; dead letters go to the
	 * same cluster
	 * @param producerProperties what the application says of its producers
	 * @param topics looks after the dead-letter topics of a queue
	 * @param breakers where circuit breakers are found and registered
	 * @param circuitKey tells what a record depends on, or {@code null} to go by the
	 * settings
	 */
	public QueueRuntime(TimeSource time, Map<String, Object> consumerProperties, Map<String, Object> producerProperties,
			Function<QueueSettings, DeadLetterTopics> topics, CircuitBreakerRegistry breakers,
			@Nullable QueueCircuitKey circuitKey) {
		this(time, newTimer(), (settings) -> WorkerThreads.of(settings.id(), settings.workers()), consumerProperties,
				producerProperties, topics, breakers, circuitKey);
	}

	QueueRuntime(TimeSource time, ScheduledExecutorService timer, Function<QueueSettings, WorkerThreads> workers,
			Map<String, Object> consumerProperties, Map<String, Object> producerProperties,
			Function<QueueSettings, DeadLetterTopics> topics, CircuitBreakerRegistry breakers,
			@Nullable QueueCircuitKey circuitKey) {
		this.time = time;
		this.timer = timer;
		this.workers = workers;
		this.topics = topics;
		this.breakers = breakers;
		this.circuitKey = circuitKey;
		this.consumerProperties = new HashMap<>(consumerProperties);
		this.adminProperties = admin(consumerProperties);
		this.jobClients = new ClusterClients(consumerProperties, producerProperties, this::admin);
		this.producers = new DefaultKafkaProducerFactory<>(deadLetterProducer(consumerProperties, producerProperties),
				new ByteArraySerializer(), new ByteArraySerializer());
	}

	private static ScheduledExecutorService newTimer() {
		ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "queue-timer");
			thread.setDaemon(true);
			return thread;
		});
		timer.setRemoveOnCancelPolicy(true);
		return timer;
	}

	TimeSource time() {
		return this.time;
	}

	ScheduledExecutorService timer() {
		return this.timer;
	}

	/** Client that asks about topics, made when it is first needed. */
	synchronized Admin admin() {
		Admin current = this.admin;
		if (current == null) {
			if (this.timer.isShutdown()) {
				throw new IllegalStateException("The application has ended");
			}
			current = Admin.create(this.adminProperties);
			this.admin = current;
		}
		return current;
	}

	Circuits circuits(QueueSettings settings) {
		QueueCircuitKey key = this.circuitKey;
		return new Circuits(settings.outage(), this.breakers,
				(key != null) ? (record) -> key.keyOf(settings.id(), record) : null, this.time::nanoTime);
	}

	/**
	 * Clients for jobs on dead letters.
	 * @return the clients
	 */
	public JobClients jobClients() {
		return this.jobClients;
	}

	WorkerThreads workers(QueueSettings settings) {
		return this.workers.apply(settings);
	}

	/**
	 * Looks at the brokers' logs.
	 * @return a watch that connects when it first looks
	 */
	public LogWatch logWatch() {
		return new LogWatch(this::admin);
	}

	/**
	 * Looks for dead letters.
	 * @param settings bounds of a search
	 * @return a browser that connects for each search
	 */
	public DeadLetterBrowser browser(SearchSettings settings) {
		return new DeadLetterBrowser(() -> LetterScanner.open(this.consumerProperties, this.time::nanoTime),
				this::admin, settings, this.time::nanoTime);
	}

	DeadLetterPublisher deadLetters(QueueSettings settings, String group,
			Function<Delivery, @Nullable Destination> fallback) {
		return new DeadLetterPublisher(new DeadLetterSettings(settings.id(), group, fallback,
				settings.deadLetters().onTooLarge(), FIRST_PAUSE, MAX_PAUSE), new Producers(),
				this.topics.apply(settings), this.time::nanoTime);
	}

	/**
	 * Ends timer and clients; called after the containers have stopped.
	 */
	@Override
	public synchronized void close() {
		this.timer.shutdownNow();
		this.producers.destroy();
		if (this.admin != null) {
			this.admin.close(Duration.ZERO);
			this.admin = null;
		}
	}

	private static Map<String, Object> admin(Map<String, Object> consumer) {
		Map<String, Object> properties = new HashMap<>(consumer);
		properties.keySet().retainAll(AdminClientConfig.configNames());
		properties.put(AdminClientConfig.CLIENT_ID_CONFIG, "queue-topics");
		return properties;
	}

	/**
	 * Settings of the producer of dead letters, whatever the application's producers do.
	 */
	static Map<String, Object> deadLetterProducer(Map<String, Object> consumer, Map<String, Object> producer) {
		Map<String, Object> properties = new HashMap<>(producer);
		properties.keySet().retainAll(TUNING);
		Map<String, Object> connection = new HashMap<>(consumer);
		connection.keySet().retainAll(ProducerConfig.configNames());
		connection.remove(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG);
		properties.putAll(connection);
		properties.merge(ProducerConfig.BUFFER_MEMORY_CONFIG, MIN_BUFFER_BYTES, QueueRuntime::larger);
		properties.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.MAX_VALUE);
		properties.put(ProducerConfig.ACKS_CONFIG, "all");
		properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
		properties.put(ProducerConfig.LINGER_MS_CONFIG, 5);
		properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000);
		properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 15_000);
		properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, 5_000);
		properties.put(ProducerConfig.CLIENT_ID_CONFIG, "queue-dead-letters");
		return properties;
	}

	private static Object larger(Object tuned, Object least) {
		Long bytes = (Long) ConfigDef.parseType(ProducerConfig.BUFFER_MEMORY_CONFIG, tuned, ConfigDef.Type.LONG);
		return Math.max(bytes, (Long) least);
	}

	private final class Producers implements DeadLetterProducers {

		@Override
		public Producer<byte[], byte[]> get() {
			return QueueRuntime.this.producers.createProducer();
		}

		@Override
		public void renew() {
			QueueRuntime.this.producers.reset();
		}

	}

}
