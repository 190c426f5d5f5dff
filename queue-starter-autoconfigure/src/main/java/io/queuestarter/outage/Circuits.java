package io.queuestarter.outage;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.log.LogLimit;

/**
 * The circuits of one queue: one, or one for each key of its records.
 * <em>Thread-safe.</em>
 * <p>
 * A breaker has the configuration of the resilience4j instance of its name; one with a
 * key, {@code <instance>.<key>}, that of the instance without. If there is no such
 * instance: 50 % failures of the last 100 attempts, at least 20 of them, open it for 10
 * seconds; then 10 attempts find out.
 */
public final class Circuits {

	private static final Logger LOGGER = LoggerFactory.getLogger(Circuits.class);

	/** Keys beyond share one circuit, so that a header cannot fill the memory. */
	private static final int MAX_KEYS = 100;

	private static final String OTHERS = "others";

	private static final CircuitBreakerConfig DEFAULT = CircuitBreakerConfig.custom()
		.slidingWindow(100, 20, SlidingWindowType.COUNT_BASED,
				CircuitBreakerConfig.SlidingWindowSynchronizationStrategy.SYNCHRONIZED)
		.failureRateThreshold(50)
		// Slow is what times out, and that counts as failed.
		.slowCallDurationThreshold(Duration.ofDays(2))
		.waitDurationInOpenState(Duration.ofSeconds(10))
		.permittedNumberOfCallsInHalfOpenState(10)
		.build();

	private final OutageSettings settings;

	private final CircuitBreakerRegistry registry;

	private final @Nullable Function<ConsumerRecord<byte[], byte[]>, @Nullable String> key;

	private final Map<String, Circuit> keyed = new ConcurrentHashMap<>();

	private final Circuit common;

	private final long startNanos;

	private final LogLimit keyFaults;

	private final LogLimit outcomeFaults;

	private final LogLimit openings;

	/**
	 * Creates the circuits of a queue.
	 * @param settings how outages are told from poison
	 * @param registry where breakers are found and registered
	 * @param key tells the circuit of a record, or {@code null} to go by the settings
	 * @param nanoTime where the time is read
	 */
	public Circuits(OutageSettings settings, CircuitBreakerRegistry registry,
			@Nullable Function<ConsumerRecord<byte[], byte[]>, @Nullable String> key, LongSupplier nanoTime) {
		this.settings = settings;
		this.registry = registry;
		this.key = (key != null) ? key : (settings.keyHeader() != null) ? header(settings.keyHeader()) : null;
		this.startNanos = nanoTime.getAsLong();
		this.keyFaults = new LogLimit(nanoTime);
		this.outcomeFaults = new LogLimit(nanoTime);
		this.openings = new LogLimit(nanoTime);
		this.common = create(null);
	}

	private static Function<ConsumerRecord<byte[], byte[]>, @Nullable String> header(String name) {
		return (record) -> {
			Header header = record.headers().lastHeader(name);
			byte[] value = (header != null) ? header.value() : null;
			return (value != null) ? new String(value, StandardCharsets.UTF_8) : null;
		};
	}

	private Circuit create(@Nullable String key) {
		String name = (key != null) ? this.settings.instance() + "." + key : this.settings.instance();
		TokenWindow budget = new TokenWindow(this.settings.window().toNanos(), this.settings.free(), this.startNanos);
		return new Circuit(name, this.settings.breaker() ? breaker(name) : null, budget,
				this.settings.patience().toNanos(), this.startNanos, this.openings, this.outcomeFaults);
	}

	private CircuitBreaker breaker(String name) {
		return this.registry.find(name).orElseGet(() -> this.registry.circuitBreaker(name, config()));
	}

	private CircuitBreakerConfig config() {
		return this.registry.find(this.settings.instance())
			.map(CircuitBreaker::getCircuitBreakerConfig)
			.or(() -> this.registry.getConfiguration(this.settings.instance()))
			.orElse(DEFAULT);
	}

	/**
	 * The circuit of a record.
	 * @param record the record, or {@code null} if it is gone
	 * @return its circuit; the common one if it has no key, or none that can be told
	 */
	public Circuit of(@Nullable ConsumerRecord<byte[], byte[]> record) {
		if (record == null || this.key == null) {
			return this.common;
		}
		try {
			String name = this.key.apply(record);
			return (name != null) ? keyed(name) : this.common;
		}
		catch (Throwable ex) {
			// User code; in Kotlin it throws checked exceptions, too.
			Circuit.rethrowIfFatal(ex);
			this.keyFaults.warn(LOGGER, "Circuit breaker of {}-{}@{} could not be told, it depends on '{}': {}",
					record.topic(), record.partition(), record.offset(), this.settings.instance(),
					Circuit.describe(ex));
			return this.common;
		}
	}

	private Circuit keyed(String name) {
		Circuit circuit = this.keyed.get(name);
		if (circuit != null) {
			return circuit;
		}
		return this.keyed.computeIfAbsent((this.keyed.size() < MAX_KEYS) ? name : OTHERS, this::create);
	}

	/**
	 * Whether nothing that is fetched could be handled now: there is one circuit, and it
	 * is open.
	 * @return {@code true} if intake should pause
	 */
	public boolean isOpen() {
		return this.key == null && this.common.isOpen();
	}

	/**
	 * What operators see.
	 * @param nowNanos the time
	 * @return one state a circuit
	 */
	public List<CircuitState> states(long nowNanos) {
		return all().stream().map((circuit) -> circuit.state(nowNanos)).toList();
	}

	/**
	 * Does what is due without a record; to be called every second or so.
	 * @param nowNanos the time
	 */
	public void tick(long nowNanos) {
		all().forEach((circuit) -> circuit.tick(nowNanos));
	}

	private Collection<Circuit> all() {
		if (this.keyed.isEmpty()) {
			return List.of(this.common);
		}
		return Stream.concat(Stream.of(this.common), this.keyed.values().stream()).toList();
	}

}
