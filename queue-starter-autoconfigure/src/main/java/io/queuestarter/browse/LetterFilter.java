package io.queuestarter.browse;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Predicate;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

import io.queuestarter.context.ContextRules;
import io.queuestarter.deadletter.DeadLetterReason;

/**
 * Which dead letters somebody means: those that fulfil all conditions given. Immutable
 * and <em>thread-safe</em>.
 */
public final class LetterFilter {

	/**
	 * The filter that every dead letter passes.
	 */
	public static final LetterFilter NONE = new LetterFilter(new Parser(ContextRules.NONE));

	/**
	 * Names of the conditions.
	 */
	public static final List<String> PARAMETERS = List.of("exception", "reason", "header", "key", "contains", "topic",
			"partition", "offsets", "from", "to", "lane");

	private final Map<String, Object> understood;

	private final List<Predicate<DeadLetter>> conditions;

	private final @Nullable String topic;

	private final @Nullable Integer partition;

	private final @Nullable LetterOffsets offsets;

	private final @Nullable Instant from;

	private LetterFilter(Parser parser) {
		this.understood = Collections.unmodifiableMap(new LinkedHashMap<>(parser.understood));
		this.conditions = List.copyOf(parser.conditions);
		this.topic = parser.topic;
		this.partition = parser.partition;
		this.offsets = parser.offsets;
		this.from = parser.from;
	}

	/**
	 * Understands conditions for a queue without lanes.
	 * @param parameters values by name of the condition
	 * @return the filter
	 * @throws InvalidParameterException if a name is not known or a value not understood
	 * @see #parse(Map, ContextRules)
	 */
	public static LetterFilter parse(Map<String, ? extends @Nullable String> parameters) {
		return parse(parameters, ContextRules.NONE);
	}

	/**
	 * Understands conditions. A blank value counts as not given.
	 * @param parameters values by name of the condition; see {@link #PARAMETERS}
	 * @param rules tell the lane of a dead letter by the headers of its record
	 * @return the filter
	 * @throws InvalidParameterException if a name is not known or a value not understood
	 */
	public static LetterFilter parse(Map<String, ? extends @Nullable String> parameters, ContextRules rules) {
		Parser parser = new Parser(rules);
		parameters.forEach((name, value) -> {
			if (!PARAMETERS.contains(name)) {
				throw new InvalidParameterException(name, (value != null) ? value : "", PARAMETERS);
			}
		});
		for (String name : PARAMETERS) {
			String value = parameters.get(name);
			if (value != null && !value.isBlank()) {
				parser.accept(name, value);
			}
		}
		return new LetterFilter(parser);
	}

	/**
	 * Whether a dead letter fulfils all conditions.
	 * @param letter a dead letter
	 * @return {@code true} if it does
	 */
	public boolean matches(DeadLetter letter) {
		for (Predicate<DeadLetter> condition : this.conditions) {
			if (!condition.test(letter)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * The conditions as they were understood.
	 * @return values by name of the condition
	 */
	public Map<String, Object> understood() {
		return this.understood;
	}

	/**
	 * Whether a dead letter of a partition can fulfil the conditions.
	 * @param candidate partition of a dead-letter topic
	 * @return {@code false} if none can, whatever it says
	 */
	public boolean admits(TopicPartition candidate) {
		return (this.topic == null || this.topic.equals(candidate.topic()))
				&& (this.partition == null || this.partition == candidate.partition())
				&& (this.offsets == null || this.offsets.lowest(candidate).isPresent());
	}

	/**
	 * Lowest offset of a partition that can fulfil the conditions.
	 * @param candidate partition of a dead-letter topic
	 * @return the offset, if the conditions say so
	 */
	public OptionalLong lowest(TopicPartition candidate) {
		return (this.offsets != null) ? this.offsets.lowest(candidate) : OptionalLong.empty();
	}

	/**
	 * Highest offset of a partition that can fulfil the conditions.
	 * @param candidate partition of a dead-letter topic
	 * @return the offset, included, if the conditions say so
	 */
	public OptionalLong highest(TopicPartition candidate) {
		return (this.offsets != null) ? this.offsets.highest(candidate) : OptionalLong.empty();
	}

	/**
	 * The one dead-letter topic that is meant.
	 * @return the topic, or {@code null} if the conditions do not say so
	 */
	public @Nullable String topic() {
		return this.topic;
	}

	/**
	 * Time before which no dead letter is meant.
	 * @return the time, or {@code null} if the conditions do not say so
	 */
	public @Nullable Instant from() {
		return this.from;
	}

	@Override
	public String toString() {
		return this.understood.toString();
	}

	/** Collects conditions. <em>Not thread-safe.</em> */
	private static final class Parser {

		/** Kafka counts milliseconds in a long. */
		private static final Instant LATEST = Instant.ofEpochMilli(Long.MAX_VALUE);

		private final Map<String, Object> understood = new LinkedHashMap<>();

		private final List<Predicate<DeadLetter>> conditions = new ArrayList<>();

		private @Nullable String topic;

		private @Nullable Integer partition;

		private @Nullable LetterOffsets offsets;

		private @Nullable Instant from;

		private final ContextRules rules;

		Parser(ContextRules rules) {
			this.rules = rules;
		}

		void accept(String name, String value) {
			String trimmed = value.trim();
			switch (name) {
				case "exception" -> add(name, trimmed,
						(letter) -> isNamed(letter.exception(), trimmed) || isNamed(letter.cause(), trimmed));
				case "reason" -> reason(trimmed);
				case "header" -> header(value);
				case "key" -> {
					Text text = new Text(value);
					add(name, value, (letter) -> text.isAllOf(letter.record().key()));
				}
				case "contains" -> {
					Text text = new Text(value);
					add(name, value, (letter) -> text.isPartOf(letter.record().value()));
				}
				case "topic" -> {
					this.topic = trimmed;
					add(name, trimmed, (letter) -> letter.record().topic().equals(trimmed));
				}
				case "partition" -> partition(trimmed);
				case "offsets" -> offsets(trimmed);
				case "from" -> {
					Instant instant = instant(name, trimmed);
					this.from = instant;
					add(name, instant, (letter) -> !letter.timestamp().isBefore(instant));
				}
				case "to" -> to(trimmed);
				case "lane" -> lane(trimmed);
				default -> throw new IllegalArgumentException("No condition '" + name + "'");
			}
		}

		private void add(String name, Object value, Predicate<DeadLetter> condition) {
			this.understood.put(name, value);
			this.conditions.add(condition);
		}

		/** With its package, or without. */
		private static boolean isNamed(@Nullable String type, String name) {
			return type != null && (type.equals(name)
					|| (name.indexOf('.') < 0 && (type.endsWith("." + name) || type.endsWith("$" + name))));
		}

		private void reason(String value) {
			String tag = value.toLowerCase(Locale.ROOT).replace('-', '_');
			List<String> tags = Arrays.stream(DeadLetterReason.values()).map(DeadLetterReason::tag).toList();
			if (!tags.contains(tag)) {
				throw new InvalidParameterException("reason", value, tags);
			}
			add("reason", tag, (letter) -> tag.equals(letter.reason()));
		}

		private void header(String value) {
			int separator = value.indexOf('=');
			String name = ((separator < 0) ? value : value.substring(0, separator)).trim();
			if (name.isEmpty()) {
				throw new InvalidParameterException("header", value, "name=value", "name");
			}
			if (separator < 0) {
				add("header", name, (letter) -> letter.record().headers().lastHeader(name) != null);
				return;
			}
			Text text = new Text(value.substring(separator + 1));
			add("header", name + value.substring(separator), (letter) -> {
				for (Header header : letter.record().headers().headers(name)) {
					if (text.isAllOf(header.value())) {
						return true;
					}
				}
				return false;
			});
		}

		/** A lane that no record can belong to is a slip, and no empty answer. */
		private void lane(String value) {
			if (!this.rules.lanes().contains(value)) {
				throw new InvalidParameterException("lane", value, List.copyOf(this.rules.lanes()));
			}
			add("lane", value, (letter) -> this.rules.of(letter.record().headers()).lane().equals(value));
		}

		private void partition(String value) {
			if (!value.matches("[0-9]{1,9}")) {
				throw new InvalidParameterException("partition", value, "a whole number from 0 on");
			}
			int number = Integer.parseInt(value);
			this.partition = number;
			add("partition", number, (letter) -> letter.record().partition() == number);
		}

		private void offsets(String value) {
			LetterOffsets named = LetterOffsets.parse(value);
			if (named == null) {
				throw new InvalidParameterException("offsets", value,
						"partitions and offsets or ranges, such as 0@88,0@90-120 or trips-dlq-0@88");
			}
			this.offsets = named;
			add("offsets", value, (letter) -> named.contains(letter.partition(), letter.offset()));
		}

		/** Parsed after {@code from}. */
		private void to(String value) {
			Instant instant = instant("to", value);
			Instant start = this.from;
			if (start != null && !start.isBefore(instant)) {
				throw new InvalidParameterException("to", value, "an instant after 'from', " + start);
			}
			add("to", instant, (letter) -> letter.timestamp().isBefore(instant));
		}

		private static Instant instant(String name, String value) {
			try {
				Instant instant = Instant.parse(value);
				if (!instant.isBefore(Instant.EPOCH) && instant.isBefore(LATEST)) {
					return instant;
				}
			}
			catch (DateTimeException ex) {
				// Told below.
			}
			throw new InvalidParameterException(name, value, "an instant such as 2026-11-01T00:00:00Z");
		}

	}

}
