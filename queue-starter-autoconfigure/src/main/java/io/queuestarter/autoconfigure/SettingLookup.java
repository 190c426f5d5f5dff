package io.queuestarter.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.container.QueueDefinition;
import io.queuestarter.container.QueueSettings.Origin;

/**
 * Finds the values of one queue's settings, and where each comes from: the queue's own
 * property, its annotation, the default property, or the built-in value, in this order.
 */
final class SettingLookup {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("kafka-queue");

	private static final String LANES = "lanes.named.";

	private final QueueDefinition definition;

	private final KafkaQueueProperties properties;

	private final Environment environment;

	private final UnaryOperator<String> resolver;

	private final Map<String, Origin> origins = new LinkedHashMap<>();

	/** Name of the lane that is looked up, or null for the queue. */
	private final @Nullable String lane;

	private final @Nullable QueueProperties laneProperties;

	SettingLookup(QueueDefinition definition, KafkaQueueProperties properties, Environment environment,
			UnaryOperator<String> resolver) {
		this(definition, properties, environment, resolver, null, null);
	}

	private SettingLookup(QueueDefinition definition, KafkaQueueProperties properties, Environment environment,
			UnaryOperator<String> resolver, @Nullable String lane, @Nullable QueueProperties laneProperties) {
		this.lane = lane;
		this.laneProperties = laneProperties;
		this.definition = definition;
		this.properties = properties;
		this.environment = environment;
		this.resolver = resolver;
	}

	/** Looks up settings of a lane, which beat those of its queue. */
	SettingLookup lane(String name, QueueProperties ofLane) {
		return new SettingLookup(this.definition, this.properties, this.environment, this.resolver, name, ofLane);
	}

	/** Takes over what was set for a lane. */
	void note(SettingLookup ofLane) {
		ofLane.origins.forEach((key, origin) -> {
			if (key.startsWith(LANES)) {
				this.origins.put(key, origin);
			}
		});
	}

	/** Says what stands for a value that has no short text. */
	void describe(String key, String text) {
		this.origins.computeIfPresent(key, (same, origin) -> new Origin(text, origin.source()));
	}

	Map<String, Origin> origins() {
		return this.origins;
	}

	/** Looks up a setting that the annotation has no attribute for. */
	<T> T find(String key, Function<QueueProperties, @Nullable T> getter, T builtIn) {
		T value = findOrNull(key, getter, null, builtIn);
		return (value != null) ? value : builtIn;
	}

	/** Looks up a setting that the annotation has an attribute for. */
	<T> T find(String key, Function<QueueProperties, @Nullable T> getter, Attribute<T> attribute, T builtIn) {
		T value = findOrNull(key, getter, attribute, builtIn);
		return (value != null) ? value : builtIn;
	}

	/** Looks up a setting that may have no value. */
	<T> @Nullable T findOrNull(String key, Function<QueueProperties, @Nullable T> getter,
			@Nullable Attribute<T> attribute, @Nullable T builtIn) {
		T value = (this.laneProperties != null) ? getter.apply(this.laneProperties) : null;
		if (value != null) {
			String source = source(laneName(key));
			note(key, value, source);
			return note(LANES + this.lane + "." + key, value, source);
		}
		QueueProperties own = this.properties.listener(this.definition.id());
		value = (own != null) ? getter.apply(own) : null;
		if (value != null) {
			return note(key, value, source(own(key)));
		}
		String text = (attribute != null) ? this.resolver.apply(attribute.text()) : "";
		if (attribute != null && StringUtils.hasText(text)) {
			return note(key, parse(attribute, text),
					"'" + attribute.name() + "' of @QueueListener on " + this.definition.methodName());
		}
		QueueProperties defaults = this.properties.defaults();
		value = (defaults != null) ? getter.apply(defaults) : null;
		if (value != null) {
			return note(key, value, source(PREFIX.append("defaults").append(key)));
		}
		return (builtIn != null) ? note(key, builtIn, "built-in default") : null;
	}

	private <T> T parse(Attribute<T> attribute, String text) {
		try {
			return attribute.parser().apply(text);
		}
		catch (RuntimeException ex) {
			throw new QueueConfigurationException("'" + attribute.name() + "' of @QueueListener on "
					+ this.definition.methodName() + " is '" + text + "', which is not " + attribute.expected() + ".",
					"Correct the attribute, or remove it.");
		}
	}

	private <T> T note(String key, T value, String source) {
		String text = (value instanceof Enum<?> constant) ? constant.name().toLowerCase(Locale.ROOT) : value.toString();
		this.origins.put(key, new Origin(text, source));
		return value;
	}

	/** The lanes are those of the queue, or of the defaults. */
	private ConfigurationPropertyName laneName(String key) {
		String name = LANES + this.lane + "." + key;
		QueueProperties own = this.properties.listener(this.definition.id());
		boolean isOwn = own != null && own.lanes() != null && own.lanes().named() != null;
		return isOwn ? own(name) : PREFIX.append("defaults").append(name);
	}

	private ConfigurationPropertyName own(String key) {
		String id = this.definition.id();
		boolean plain = !id.contains(".") && ConfigurationPropertyName.isValid(id);
		return PREFIX.append("listeners").append(plain ? id : "[" + id + "]").append(key);
	}

	private String source(ConfigurationPropertyName name) {
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty property = source.getConfigurationProperty(name);
			if (property == null && source instanceof IterableConfigurationPropertySource names) {
				// A list and a map have an origin for each of their elements.
				property = names.stream()
					.filter(name::isAncestorOf)
					.findFirst()
					.map(source::getConfigurationProperty)
					.orElse(null);
			}
			if (property != null) {
				return name + ((property.getOrigin() != null) ? " (" + property.getOrigin() + ")" : "");
			}
		}
		return name.toString();
	}

	/** Fails unless a condition holds for the value of a key. */
	boolean isOfLane() {
		return this.lane != null;
	}

	void require(boolean condition, String key, String expected) {
		if (!condition) {
			throw refusal(key, expected);
		}
	}

	/** What says that the value of a key is impossible. */
	QueueConfigurationException refusal(String key, String expected) {
		boolean ofLane = this.lane != null && this.origins.containsKey(LANES + this.lane + "." + key);
		return new QueueConfigurationException(found(key) + "; it must be " + expected + ".",
				"Set " + (ofLane ? laneName(key) : own(key)) + " to a possible value.");
	}

	/** What says that a key must not be set at all. */
	QueueConfigurationException superfluous(String key, String reason, String action) {
		return new QueueConfigurationException(found(key) + ", but " + reason + ".", action);
	}

	private String found(String key) {
		Origin origin = this.origins.get(key);
		return "Queue '" + this.definition.id() + "'" + ((this.lane != null) ? ", lane '" + this.lane + "'" : "") + ": "
				+ key + " is " + ((origin != null) ? origin.value() + ", set by " + origin.source() : "not set");
	}

	/**
	 * An attribute of the annotation.
	 *
	 * @param <T> type of its value
	 * @param name its name
	 * @param text its text, not resolved
	 * @param parser makes the value of the resolved text
	 * @param expected what the text should be, for messages
	 */
	record Attribute<T>(String name, String text, Function<String, T> parser, String expected) {

	}

}
