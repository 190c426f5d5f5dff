package io.queuestarter.autoconfigure;

import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

import io.queuestarter.Ordering;
import io.queuestarter.QueueListener;
import io.queuestarter.autoconfigure.QueueProperties.Buffer;
import io.queuestarter.autoconfigure.QueueProperties.Dispatch;
import io.queuestarter.autoconfigure.QueueProperties.Dlq;
import io.queuestarter.autoconfigure.QueueProperties.Ledger;
import io.queuestarter.autoconfigure.QueueProperties.Local;
import io.queuestarter.autoconfigure.QueueProperties.Mode;
import io.queuestarter.autoconfigure.QueueProperties.Partition;
import io.queuestarter.autoconfigure.QueueProperties.Retry;
import io.queuestarter.autoconfigure.QueueProperties.Shutdown;
import io.queuestarter.autoconfigure.QueueProperties.Timeout;
import io.queuestarter.autoconfigure.SettingLookup.Attribute;
import io.queuestarter.container.QueueDefinition;
import io.queuestarter.container.QueueSettings;
import io.queuestarter.container.QueueSettings.DeadLetterTopic;
import io.queuestarter.container.QueueSettings.Workers;
import io.queuestarter.container.QueueSettingsSource;
import io.queuestarter.intake.IntakeLimits;

/**
 * Merges the settings of a queue from properties and annotation, and refuses impossible
 * values. The built-in defaults stand here.
 */
final class QueueSettingsResolver implements QueueSettingsSource {

	private static final boolean VIRTUAL_THREADS = ClassUtils.hasMethod(Thread.class, "ofVirtual");

	private static final Duration DAY = Duration.ofDays(1);

	private final KafkaQueueProperties properties;

	private final Environment environment;

	private final UnaryOperator<String> resolver;

	QueueSettingsResolver(KafkaQueueProperties properties, Environment environment, UnaryOperator<String> resolver) {
		this.properties = properties;
		this.environment = environment;
		this.resolver = resolver;
	}

	@Override
	public QueueSettings settingsOf(QueueDefinition definition) {
		SettingLookup lookup = new SettingLookup(definition, this.properties, this.environment, this.resolver);
		QueueListener annotation = definition.annotation();
		String group = lookup.<String>findOrNull("group", QueueProperties::group, null, null);
		Ordering ordering = lookup.find(
				"ordering", QueueProperties::ordering, new Attribute<>("ordering", annotation.ordering(),
						QueueSettingsResolver::ordering, "an ordering that exists; possible is: unordered"),
				Ordering.UNORDERED);
		return new QueueSettings(definition.id(), group, ordering, workers(lookup, annotation), limits(lookup),
				timeout(lookup, annotation), retry(lookup, annotation), commitInterval(lookup),
				deadLetters(lookup, annotation), drainTimeout(lookup), lookup.origins());
	}

	private static Workers workers(SettingLookup lookup, QueueListener annotation) {
		Mode mode = lookup.find("dispatch.mode", in(QueueProperties::dispatch, Dispatch::mode), Mode.AUTO);
		lookup.require(mode != Mode.VIRTUAL || VIRTUAL_THREADS, "dispatch.mode", "auto or platform before Java 21");
		String key = "dispatch.max-in-flight";
		int maxInFlight = lookup.find(key, in(QueueProperties::dispatch, Dispatch::maxInFlight),
				new Attribute<>("maxInFlight", annotation.maxInFlight(), Integer::valueOf, "a whole number"), 250);
		requireBetween(lookup, key, maxInFlight, 1, 100_000);
		return new Workers(mode != Mode.PLATFORM && VIRTUAL_THREADS, maxInFlight);
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

	private static Duration timeout(SettingLookup lookup, QueueListener annotation) {
		Duration timeout = lookup.find("timeout.initial", in(QueueProperties::timeout, Timeout::initial),
				duration("timeout", annotation.timeout()), Duration.ofSeconds(30));
		requireBetween(lookup, "timeout.initial", timeout, Duration.ofMillis(1), DAY);
		return timeout;
	}

	private static QueueSettings.Retry retry(SettingLookup lookup, QueueListener annotation) {
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
		return new QueueSettings.Retry(attempts, initial, multiplier, max);
	}

	private static Duration commitInterval(SettingLookup lookup) {
		String key = "ledger.commit-interval";
		Duration interval = lookup.find(key, in(QueueProperties::ledger, Ledger::commitInterval),
				Duration.ofMillis(500));
		requireBetween(lookup, key, interval, Duration.ofMillis(10), Duration.ofMinutes(1));
		return interval;
	}

	private static DeadLetterTopic deadLetters(SettingLookup lookup, QueueListener annotation) {
		boolean enabled = lookup.find("dlq.enabled", in(QueueProperties::dlq, Dlq::enabled), new Attribute<>("dlq",
				annotation.dlq().equalsIgnoreCase("none") ? "false" : "", Boolean::valueOf, "a topic"), true);
		String topic = lookup.find("dlq.topic", in(QueueProperties::dlq, Dlq::topic),
				new Attribute<>("dlq", annotation.dlq(), Function.identity(), "a topic"), "{topic}-dlq");
		lookup.require(topic.replace("{topic}", "t").matches("[a-zA-Z0-9._-]+"), "dlq.topic",
				"a topic name, in which {topic} may stand for the source topic");
		lookup.require(!topic.equals("{topic}"), "dlq.topic", "another topic than the source");
		boolean create = lookup.find("dlq.create", in(QueueProperties::dlq, Dlq::create), true);
		return new DeadLetterTopic(enabled, topic, create);
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
