package io.queuestarter.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

import io.queuestarter.Ordering;
import io.queuestarter.QueueListener;
import io.queuestarter.autoconfigure.QueueProperties.Batch;
import io.queuestarter.autoconfigure.QueueProperties.Blocking;
import io.queuestarter.autoconfigure.QueueProperties.Budget;
import io.queuestarter.autoconfigure.QueueProperties.Buffer;
import io.queuestarter.autoconfigure.QueueProperties.CircuitBreaker;
import io.queuestarter.autoconfigure.QueueProperties.Dispatch;
import io.queuestarter.autoconfigure.QueueProperties.Dlq;
import io.queuestarter.autoconfigure.QueueProperties.Lane;
import io.queuestarter.autoconfigure.QueueProperties.Ledger;
import io.queuestarter.autoconfigure.QueueProperties.Local;
import io.queuestarter.autoconfigure.QueueProperties.Mode;
import io.queuestarter.autoconfigure.QueueProperties.Partition;
import io.queuestarter.autoconfigure.QueueProperties.Retry;
import io.queuestarter.autoconfigure.QueueProperties.RetryTopic;
import io.queuestarter.autoconfigure.QueueProperties.Shutdown;
import io.queuestarter.autoconfigure.QueueProperties.Timeout;
import io.queuestarter.autoconfigure.SettingLookup.Attribute;
import io.queuestarter.blockage.BlockageRule;
import io.queuestarter.container.LaneSettings;
import io.queuestarter.container.QueueDefinition;
import io.queuestarter.container.QueueSettings;
import io.queuestarter.container.QueueSettings.DeadLetterTopic;
import io.queuestarter.container.QueueSettings.Timeouts;
import io.queuestarter.container.QueueSettings.Workers;
import io.queuestarter.container.QueueSettingsSource;
import io.queuestarter.deadletter.TooLarge;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.intake.IntakeLimits;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.retry.RetryTier;
import io.queuestarter.settle.ExceptionPolicy;
import io.queuestarter.settle.Routes.Aside;

/**
 * Merges the settings of a queue from properties and annotation, and refuses impossible
 * values. The built-in defaults stand here.
 */
final class QueueSettingsResolver implements QueueSettingsSource {

	private static final boolean VIRTUAL_THREADS = ClassUtils.hasMethod(Thread.class, "ofVirtual");

	private static final String RETRY_TOPICS = "retry.topics";

	private static final Duration DAY = Duration.ofDays(1);

	private static final Duration HEAD_AGE = Duration.ofMinutes(5);

	private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(30);

	private final KafkaQueueProperties properties;

	private final Environment environment;

	private final UnaryOperator<String> resolver;

	private final @Nullable ClassLoader classLoader;

	QueueSettingsResolver(KafkaQueueProperties properties, Environment environment, UnaryOperator<String> resolver,
			@Nullable ClassLoader classLoader) {
		this.properties = properties;
		this.environment = environment;
		this.resolver = resolver;
		this.classLoader = classLoader;
	}

	@Override
	public QueueSettings settingsOf(QueueDefinition definition) {
		SettingLookup lookup = new SettingLookup(definition, this.properties, this.environment, this.resolver);
		QueueListener annotation = definition.annotation();
		refuseBatchOfOne(lookup, definition);
		String group = lookup.<String>findOrNull("group", QueueProperties::group, null, null);
		Ordering ordering = lookup.find("ordering", QueueProperties::ordering, new Attribute<>("ordering",
				annotation.ordering(), QueueSettingsResolver::ordering, "unordered, key or partition"),
				Ordering.UNORDERED);
		Timeouts timeouts = timeouts(lookup, annotation);
		Aside aside = lookup.find("blocking.action", in(QueueProperties::blocking, Blocking::action), Aside.DLQ);
		QueueSettings.Retry retry = retry(lookup, annotation, definition.id(), aside);
		lookup.require(aside != Aside.RETRY || !retry.tiers().isEmpty(), "blocking.action",
				"dlq or park while there are no retry.topics");
		QueueSettings queue = new QueueSettings(definition.id(), group, ordering, workers(lookup, definition),
				limits(lookup), timeouts, outage(lookup, definition.id()),
				blocking(lookup, timeouts.attempt().initial()), aside, retry, exceptions(lookup, annotation),
				commitInterval(lookup), deadLetters(lookup, annotation), drainTimeout(lookup), LaneSettings.NONE,
				lookup.origins());
		LaneSettings lanes = new LaneResolver(lookup, definition.id()).resolve((name, lane) -> {
			SettingLookup own = lookup.lane(name, lane.asQueue());
			QueueSettings ofLane = lane(queue, name, lane, own, definition);
			lookup.note(own);
			return ofLane;
		}, queue);
		return queue.with(lanes);
	}

	/** What is not set for the lane is as for the queue, but its breaker is its own. */
	private QueueSettings lane(QueueSettings queue, String name, Lane lane, SettingLookup own,
			QueueDefinition definition) {
		QueueListener annotation = definition.annotation();
		refuseOfQueue(own, lane);
		OutageSettings outage = outage(own, queue.id());
		CircuitBreaker breaker = lane.circuitBreaker();
		return new QueueSettings(queue.id(), queue.group(), queue.ordering(), workers(own, definition), queue.limits(),
				timeouts(own, annotation),
				(breaker != null && breaker.instance() != null) ? outage : outage.named(outage.instance() + "-" + name),
				queue.blocking(), queue.aside(), retry(own, annotation, queue.id(), queue.aside()),
				exceptions(own, annotation), queue.commitInterval(), deadLetters(own, annotation), queue.drainTimeout(),
				LaneSettings.NONE, queue.origins());
	}

	/** What lanes share with their queue is not set for one. */
	private static void refuseOfQueue(SettingLookup own, Lane lane) {
		String action = "Remove it, or set it for the queue.";
		if (lane.retry() != null && lane.retry().topics() != null) {
			own.findOrNull(RETRY_TOPICS, in(QueueProperties::retry, Retry::topics), null, null);
			own.describe(RETRY_TOPICS, "a list of " + lane.retry().topics().size());
			throw own.superfluous(RETRY_TOPICS, "lanes share the retry topics of their queue", action);
		}
		if (lane.dlq() != null && lane.dlq().create() != null) {
			own.findOrNull("dlq.create", in(QueueProperties::dlq, Dlq::create), null, null);
			throw own.superfluous("dlq.create", "it is left to the queue", action);
		}
		if (lane.dlq() != null && lane.dlq().onTooLarge() != null) {
			own.findOrNull("dlq.on-too-large", in(QueueProperties::dlq, Dlq::onTooLarge), null, null);
			throw own.superfluous("dlq.on-too-large", "it is left to the queue", action);
		}
	}

	/** A setting that says nothing to the queue it is made for is a mistake. */
	private void refuseBatchOfOne(SettingLookup lookup, QueueDefinition definition) {
		QueueProperties own = this.properties.listener(definition.id());
		Batch batch = (own != null) ? own.batch() : null;
		if (definition.takesBatch() || (definition.annotation().batchSize().isEmpty() && batch == null)) {
			return;
		}
		String key = "batch.size";
		if (batch != null && batch.size() == null && definition.annotation().batchSize().isEmpty()) {
			key = "batch.linger";
			lookup.findOrNull(key, in(QueueProperties::batch, Batch::linger), null, null);
		}
		else {
			lookup.findOrNull(key, in(QueueProperties::batch, Batch::size), batchSize(definition.annotation()), null);
		}
		throw lookup.superfluous(key, definition.methodName() + " takes one record",
				"Take a List of payloads, Messages or ConsumerRecords, or remove the setting.");
	}

	private static Attribute<Integer> batchSize(QueueListener annotation) {
		return new Attribute<>("batchSize", annotation.batchSize(), Integer::valueOf, "a whole number");
	}

	private static Workers workers(SettingLookup lookup, QueueDefinition definition) {
		QueueListener annotation = definition.annotation();
		Mode mode = lookup.find("dispatch.mode", in(QueueProperties::dispatch, Dispatch::mode), Mode.AUTO);
		lookup.require(mode != Mode.VIRTUAL || VIRTUAL_THREADS, "dispatch.mode", "auto or platform before Java 21");
		String key = "dispatch.max-in-flight";
		int maxInFlight = lookup.find(key, in(QueueProperties::dispatch, Dispatch::maxInFlight),
				new Attribute<>("maxInFlight", annotation.maxInFlight(), Integer::valueOf, "a whole number"), 250);
		requireBetween(lookup, key, maxInFlight, 1, 100_000);
		key = "dispatch.max-leaked";
		int maxLeaked = lookup.find(key, in(QueueProperties::dispatch, Dispatch::maxLeaked),
				Math.max(1, maxInFlight / 4));
		requireBetween(lookup, key, maxLeaked, 0, 100_000);
		return new Workers(mode != Mode.PLATFORM && VIRTUAL_THREADS, maxInFlight, maxLeaked,
				definition.takesBatch() ? batch(lookup, annotation, maxInFlight) : null);
	}

	/** A lane has no batches of its own, but may have fewer places than a batch takes. */
	private static QueueSettings.Batch batch(SettingLookup lookup, QueueListener annotation, int maxInFlight) {
		int size = lookup.find("batch.size", in(QueueProperties::batch, Batch::size), batchSize(annotation),
				Math.min(100, maxInFlight));
		lookup.require(size >= 1 && (size <= maxInFlight || lookup.isOfLane()), "batch.size",
				"at least 1 and at most dispatch.max-in-flight, " + maxInFlight);
		Duration linger = lookup.find("batch.linger", in(QueueProperties::batch, Batch::linger), Duration.ofMillis(10));
		requireBetween(lookup, "batch.linger", linger, Duration.ZERO, Duration.ofMinutes(1));
		return new QueueSettings.Batch(Math.min(size, maxInFlight), linger);
	}

	private static IntakeLimits limits(SettingLookup lookup) {
		int window = lookup.find("ledger.capacity", in(QueueProperties::ledger, Ledger::capacity), 10_000);
		requireBetween(lookup, "ledger.capacity", window, 1, 100_000);
		int records = lookup.find("buffer.max-records", in(QueueProperties::buffer, Buffer::maxRecords), 1000);
		requireBetween(lookup, "buffer.max-records", records, 1, 1_000_000);
		DataSize size = lookup.find("buffer.max-size", in(QueueProperties::buffer, Buffer::maxSize),
				DataSize.ofMegabytes(10));
		lookup.require(size.toBytes() > 0, "buffer.max-size", "above 0B");
		Function<QueueProperties, @Nullable Partition> partition = in(QueueProperties::buffer, Buffer::partition);
		int partitionRecords = lookup.find("buffer.partition.max-records", in(partition, Partition::maxRecords),
				Math.max(1, records / 2));
		requireBetween(lookup, "buffer.partition.max-records", partitionRecords, 1, records);
		DataSize partitionSize = lookup.find("buffer.partition.max-size", in(partition, Partition::maxSize),
				DataSize.ofBytes(Math.max(1, size.toBytes() / 2)));
		lookup.require(partitionSize.toBytes() > 0 && partitionSize.compareTo(size) <= 0, "buffer.partition.max-size",
				"above 0B and at most buffer.max-size, " + size);
		return new IntakeLimits(window, records, size.toBytes(), partitionRecords, partitionSize.toBytes());
	}

	private static Timeouts timeouts(SettingLookup lookup, QueueListener annotation) {
		Duration initial = lookup.find("timeout.initial", in(QueueProperties::timeout, Timeout::initial),
				duration("timeout", annotation.timeout()), Duration.ofSeconds(30));
		requireBetween(lookup, "timeout.initial", initial, Duration.ofMillis(1), DAY);
		double multiplier = lookup.find("timeout.multiplier", in(QueueProperties::timeout, Timeout::multiplier), 2.0);
		lookup.require(multiplier >= 1 && multiplier <= 100, "timeout.multiplier", "between 1 and 100");
		Duration max = lookup.find("timeout.max", in(QueueProperties::timeout, Timeout::max),
				(initial.compareTo(LONGEST_TIMEOUT) < 0) ? LONGEST_TIMEOUT : initial);
		lookup.require(max.compareTo(initial) >= 0 && max.compareTo(DAY) <= 0, "timeout.max",
				"at least timeout.initial, " + initial + ", and at most " + DAY);
		int count = lookup.find("timeout.max-count", in(QueueProperties::timeout, Timeout::maxCount), 3);
		requireBetween(lookup, "timeout.max-count", count, 1, 1_000_000);
		Duration grace = lookup.find("timeout.grace", in(QueueProperties::timeout, Timeout::grace),
				Duration.ofSeconds(5));
		requireBetween(lookup, "timeout.grace", grace, Duration.ZERO, DAY);
		return new Timeouts(new AttemptTimeout(initial, multiplier, max), count, grace);
	}

	private static OutageSettings outage(SettingLookup lookup, String id) {
		boolean enabled = lookup.find("circuit-breaker.enabled",
				in(QueueProperties::circuitBreaker, CircuitBreaker::enabled), true);
		String instance = lookup.find("circuit-breaker.instance",
				in(QueueProperties::circuitBreaker, CircuitBreaker::instance), "{id}");
		String header = lookup.findOrNull("circuit-breaker.key-header",
				in(QueueProperties::circuitBreaker, CircuitBreaker::keyHeader), null, null);
		Function<QueueProperties, @Nullable Budget> budget = in(QueueProperties::dlq, Dlq::budget);
		Duration window = lookup.find("dlq.budget.window", in(budget, Budget::window), Duration.ofMinutes(5));
		requireBetween(lookup, "dlq.budget.window", window, Duration.ofMillis(1), DAY);
		int free = lookup.find("dlq.budget.free", in(budget, Budget::free), 1);
		requireBetween(lookup, "dlq.budget.free", free, 0, 1_000_000);
		Duration patience = lookup.find("dlq.budget.patience", in(budget, Budget::patience), Duration.ofMinutes(2));
		requireBetween(lookup, "dlq.budget.patience", patience, Duration.ZERO, DAY);
		return new OutageSettings(enabled, instance.replace("{id}", id), header, window, free, patience);
	}

	private static BlockageRule blocking(SettingLookup lookup, Duration timeout) {
		Function<QueueProperties, @Nullable Blocking> blocking = QueueProperties::blocking;
		boolean enabled = lookup.find("blocking.enabled", in(blocking, Blocking::enabled), true);
		double load = lookup.find("blocking.load-threshold", in(blocking, Blocking::loadThreshold), 0.9);
		lookup.require(load > 0 && load < 1, "blocking.load-threshold", "above 0 and below 1");
		double acked = lookup.find("blocking.acked-threshold", in(blocking, Blocking::ackedThreshold), 0.98);
		lookup.require(acked > 0 && acked < 1, "blocking.acked-threshold", "above 0 and below 1");
		int holders = lookup.find("blocking.max-holders", in(blocking, Blocking::maxHolders), 10);
		requireBetween(lookup, "blocking.max-holders", holders, 0, 100_000);
		Duration twice = timeout.multipliedBy(2);
		Duration age = lookup.find("blocking.max-head-age", in(blocking, Blocking::maxHeadAge),
				(twice.compareTo(HEAD_AGE) > 0) ? twice : HEAD_AGE);
		lookup.require(age.compareTo(timeout) >= 0, "blocking.max-head-age", "at least timeout.initial, " + timeout);
		int victims = lookup.find("blocking.max-victims", in(blocking, Blocking::maxVictims), 10);
		requireBetween(lookup, "blocking.max-victims", victims, 1, 100_000);
		return new BlockageRule(enabled, load, acked, holders, age, victims);
	}

	private static QueueSettings.Retry retry(SettingLookup lookup, QueueListener annotation, String id, Aside aside) {
		Function<QueueProperties, @Nullable Local> local = in(QueueProperties::retry, Retry::local);
		String key = "retry.local.";
		int attempts = lookup.find(key + "max-attempts", in(local, Local::maxAttempts),
				new Attribute<>("maxAttempts", annotation.maxAttempts(), Integer::valueOf, "a whole number"), 3);
		requireBetween(lookup, key + "max-attempts", attempts, 1, 1_000_000);
		Duration initial = lookup.find(key + "initial-interval", in(local, Local::initialInterval),
				Duration.ofMillis(100));
		requireBetween(lookup, key + "initial-interval", initial, Duration.ZERO, DAY);
		double multiplier = lookup.find(key + "multiplier", in(local, Local::multiplier), 2.0);
		lookup.require(multiplier >= 1 && multiplier <= 100, key + "multiplier", "between 1 and 100");
		Duration max = lookup.find(key + "max-interval", in(local, Local::maxInterval), Duration.ofSeconds(10));
		requireBetween(lookup, key + "max-interval", max, Duration.ZERO, DAY);
		String park = (aside == Aside.PARK) ? topic(lookup, "blocking.park-topic", lookup.find("blocking.park-topic",
				in(QueueProperties::blocking, Blocking::parkTopic), "{topic}-{id}-park"), id) : null;
		return new QueueSettings.Retry(attempts, initial, multiplier, max, tiers(lookup, id), park);
	}

	private static List<RetryTier> tiers(SettingLookup lookup, String id) {
		String key = RETRY_TOPICS;
		List<RetryTopic> topics = lookup.findOrNull(key, in(QueueProperties::retry, Retry::topics), null, null);
		List<RetryTier> tiers = new ArrayList<>();
		for (RetryTopic tier : (topics != null) ? topics : List.<RetryTopic>of()) {
			String name = topic(lookup, key,
					(tier.topic() != null) ? tier.topic() : "{topic}-{id}-retry-" + (tiers.size() + 1), id);
			Duration delay = tier.delay();
			lookup.require(delay != null && !delay.isNegative() && delay.compareTo(DAY) <= 0, key,
					"a list whose delays are set, and between 0 and " + DAY);
			int attempts = (tier.attempts() != null) ? tier.attempts() : 1;
			lookup.require(attempts >= 1 && attempts <= 1000, key, "a list whose attempts are between 1 and 1000");
			tiers.add(new RetryTier(name, Objects.requireNonNull(delay), attempts));
		}
		return tiers;
	}

	/**
	 * The name of a topic that the queue writes, in which the source's may be left out.
	 */
	private static String topic(SettingLookup lookup, String key, String name, String id) {
		String resolved = name.replace("{id}", id.replaceAll("[^a-zA-Z0-9._-]", "_"));
		lookup.require(resolved.replace("{topic}", "t").matches("[a-zA-Z0-9._-]+") && !resolved.equals("{topic}"), key,
				"a topic name, in which {topic} may stand for the source topic and {id} for the queue, and not the "
						+ "source itself");
		return resolved;
	}

	private ExceptionPolicy exceptions(SettingLookup lookup, QueueListener annotation) {
		return new ExceptionPolicy(
				exceptions(lookup, "retry.retry-for", Retry::retryFor, "retryFor", annotation.retryFor()),
				exceptions(lookup, "retry.dlq-for", Retry::dlqFor, "dlqFor", annotation.dlqFor()));
	}

	private List<Class<? extends Throwable>> exceptions(SettingLookup lookup, String key,
			Function<Retry, @Nullable List<String>> getter, String attribute, Class<?>[] types) {
		String text = Arrays.stream(types).map(Class::getName).collect(Collectors.joining(","));
		List<String> names = lookup.find(key, in(QueueProperties::retry, getter),
				new Attribute<>(attribute, text, (list) -> List.of(list.split(",")), "a list of exceptions"),
				List.of());
		List<Class<? extends Throwable>> found = new ArrayList<>();
		for (String name : names) {
			found.add(exception(lookup, key, name));
		}
		return found;
	}

	private Class<? extends Throwable> exception(SettingLookup lookup, String key, String name) {
		Class<?> type;
		try {
			type = ClassUtils.forName(name, this.classLoader);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			throw lookup.refusal(key, "a list of exception classes, and there is no class '" + name + "'");
		}
		lookup.require(Throwable.class.isAssignableFrom(type), key,
				"a list of exception classes, and '" + name + "' is no Throwable");
		return type.asSubclass(Throwable.class);
	}

	private static Duration commitInterval(SettingLookup lookup) {
		String key = "ledger.commit-interval";
		Duration interval = lookup.find(key, in(QueueProperties::ledger, Ledger::commitInterval),
				Duration.ofMillis(500));
		requireBetween(lookup, key, interval, Duration.ofMillis(10), Duration.ofMinutes(1));
		return interval;
	}

	private DeadLetterTopic deadLetters(SettingLookup lookup, QueueListener annotation) {
		boolean none = this.resolver.apply(annotation.dlq()).equalsIgnoreCase("none");
		boolean enabled = lookup.find("dlq.enabled", in(QueueProperties::dlq, Dlq::enabled),
				new Attribute<>("dlq", none ? "false" : "", Boolean::valueOf, "a topic"), true);
		String topic = lookup.find("dlq.topic", in(QueueProperties::dlq, Dlq::topic),
				new Attribute<>("dlq", annotation.dlq(), Function.identity(), "a topic"), "{topic}-dlq");
		lookup.require(topic.replace("{topic}", "t").matches("[a-zA-Z0-9._-]+"), "dlq.topic",
				"a topic name, in which {topic} may stand for the source topic");
		lookup.require(!topic.equals("{topic}"), "dlq.topic", "another topic than the source");
		boolean create = lookup.find("dlq.create", in(QueueProperties::dlq, Dlq::create), true);
		TooLarge onTooLarge = lookup.find("dlq.on-too-large", in(QueueProperties::dlq, Dlq::onTooLarge), TooLarge.HOLD);
		return new DeadLetterTopic(enabled, topic, create, onTooLarge);
	}

	private Duration drainTimeout(SettingLookup lookup) {
		String key = "shutdown.drain-timeout";
		Duration drain = lookup.find(key, in(QueueProperties::shutdown, Shutdown::drainTimeout),
				Duration.ofSeconds(10));
		requireBetween(lookup, key, drain, Duration.ZERO, Duration.ofHours(1));
		String phase = "spring.lifecycle.timeout-per-shutdown-phase";
		Duration limit = Binder.get(this.environment).bind(phase, Duration.class).orElse(Duration.ofSeconds(30));
		lookup.require(drain.compareTo(limit) <= 0, key, "at most " + phase + " (" + limit
				+ "), after which the application stops without waiting and records are delivered again");
		return drain;
	}

	private static Ordering ordering(String text) {
		return Ordering.valueOf(text.toUpperCase(Locale.ROOT));
	}

	private static Attribute<Duration> duration(String name, String text) {
		return new Attribute<>(name, text, DurationStyle::detectAndParse, "a duration such as 500ms or 30s");
	}

	private static void requireBetween(SettingLookup lookup, String key, long value, long least, long most) {
		lookup.require(value >= least && value <= most, key, "between " + least + " and " + most);
	}

	private static void requireBetween(SettingLookup lookup, String key, Duration value, Duration least,
			Duration most) {
		lookup.require(value.compareTo(least) >= 0 && value.compareTo(most) <= 0, key,
				"between " + least.toMillis() + "ms and " + most);
	}

	/** Looks into a group of properties that may be absent. */
	private static <G, T> Function<QueueProperties, @Nullable T> in(Function<QueueProperties, @Nullable G> group,
			Function<G, @Nullable T> value) {
		return (properties) -> {
			G found = group.apply(properties);
			return (found != null) ? value.apply(found) : null;
		};
	}

}
