package io.queuestarter.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.queuestarter.Ordering;
import io.queuestarter.autoconfigure.QueueProperties.Lane;
import io.queuestarter.autoconfigure.QueueProperties.Lanes;
import io.queuestarter.autoconfigure.QueueProperties.Zone;
import io.queuestarter.container.LaneSettings;
import io.queuestarter.container.QueueSettings;
import io.queuestarter.context.ContextRules;
import io.queuestarter.context.HeaderNames;
import io.queuestarter.context.RecordContext;
import io.queuestarter.intake.Foreign;
import io.queuestarter.intake.ZoneRule;

/**
 * Makes the lanes of a queue of its settings.
 */
final class LaneResolver {

	private static final String NAME = "[a-zA-Z0-9_-]+";

	private final SettingLookup lookup;

	private final String id;

	LaneResolver(SettingLookup lookup, String id) {
		this.lookup = lookup;
		this.id = id;
	}

	/**
	 * Resolves the lanes.
	 * @param ofLane makes the settings of a lane by its name
	 * @param queue settings of the default lane
	 */
	LaneSettings resolve(BiFunction<String, Lane, QueueSettings> ofLane, QueueSettings queue) {
		String header = this.lookup.findOrNull("lanes.header", in(Lanes::header), null, null);
		checkHeader("lanes.header", header);
		String defaultLane = this.lookup.find("lanes.default-lane", in(Lanes::defaultLane), RecordContext.DEFAULT_LANE);
		Map<String, Lane> named = this.lookup.find("lanes.named", in(Lanes::named), Map.of());
		this.lookup.describe("lanes.named", String.join(", ", named.keySet()));
		List<String> serve = serve();
		Foreign foreign = this.lookup.find("lanes.on-foreign", in(Lanes::onForeign), byDefault(serve, queue));
		String forwardTopic = this.lookup.findOrNull("lanes.forward-topic", in(Lanes::forwardTopic), null, null);
		if (header == null) {
			refuseWithoutHeader("lanes.named", named.isEmpty());
			refuseWithoutHeader("lanes.serve", serve.isEmpty());
			return withoutLanes(queue);
		}
		checkNames(defaultLane, named.keySet(), serve);
		checkForeign(foreign, forwardTopic, queue);
		this.lookup.require(foreign == Foreign.SKIP || serve.isEmpty() || serve.contains(defaultLane),
				"lanes.on-foreign", "skip while lanes.serve is without '" + defaultLane
						+ "': the consumer group is one beside that of others, who handle these records");
		Set<String> known = new LinkedHashSet<>();
		known.add(defaultLane);
		known.addAll(named.keySet());
		Map<String, QueueSettings> served = new LinkedHashMap<>();
		for (String lane : serve.isEmpty() ? known : new LinkedHashSet<>(serve)) {
			served.put(lane, named.containsKey(lane) ? ofLane.apply(lane, named.get(lane)) : queue);
		}
		ZoneRule zone = zone(queue);
		ContextRules rules = new ContextRules(names(header, known, named), known, defaultLane,
				List.copyOf(served.keySet()), zones(), zone.own());
		return new LaneSettings(rules, defaultLane, served, foreign, forwardTopic, zone);
	}

	private void refuseWithoutHeader(String key, boolean unset) {
		if (!unset) {
			throw this.lookup.superfluous(key, "no lanes.header says which header tells the lane",
					"Set kafka-queue.listeners." + this.id + ".lanes.header to its name, or remove the setting.");
		}
	}

	private LaneSettings withoutLanes(QueueSettings queue) {
		ZoneRule zone = zone(queue);
		HeaderNames zones = zones();
		if (zones == null) {
			return (zone == ZoneRule.NONE) ? LaneSettings.NONE : new LaneSettings(ContextRules.NONE,
					RecordContext.DEFAULT_LANE, Map.of(), Foreign.HOLD, null, zone);
		}
		List<String> lanes = List.of(RecordContext.DEFAULT_LANE);
		return new LaneSettings(new ContextRules(null, lanes, lanes.get(0), lanes, zones, zone.own()), lanes.get(0),
				Map.of(), Foreign.HOLD, null, zone);
	}

	private @Nullable HeaderNames zones() {
		String header = this.lookup.findOrNull("zone.header", ofZone(Zone::header), null, null);
		checkHeader("zone.header", header);
		return (header != null) ? new HeaderNames(header, Map.of(), null) : null;
	}

	/** No record has it, so all would be of the default lane. */
	private void checkHeader(String key, @Nullable String header) {
		this.lookup.require(header == null || !header.isBlank(), key, "the name of a header, or unset");
	}

	private ZoneRule zone(QueueSettings queue) {
		String own = this.lookup.findOrNull("zone.own", ofZone(Zone::own), null, null);
		ZoneRule.Mode mode = this.lookup.find("zone.mode", ofZone(Zone::mode), ZoneRule.Mode.PREFER);
		Duration failOver = this.lookup.find("zone.fail-over-after", ofZone(Zone::failOverAfter),
				Duration.ofSeconds(30));
		this.lookup.require(!failOver.isNegative() && failOver.compareTo(Duration.ofDays(1)) <= 0,
				"zone.fail-over-after", "between 0 and a day");
		if (own == null) {
			return ZoneRule.NONE;
		}
		this.lookup.require(zones() == null || queue.ordering() == Ordering.UNORDERED, "zone.own",
				"unset while ordering is " + queue.ordering() + ", which zones would break, or zone.header be unset");
		return new ZoneRule(own, mode, failOver);
	}

	/**
	 * The lanes named to be served, none for all. A placeholder that comes to nothing
	 * must not come to all.
	 */
	private List<String> serve() {
		List<String> serve = this.lookup.findOrNull("lanes.serve", in(Lanes::serve), null, null);
		this.lookup.require(serve == null || !serve.isEmpty(), "lanes.serve",
				"a list of lanes that is not empty, or unset for all of them");
		return (serve != null) ? serve : List.of();
	}

	/** Who serves all lanes has no other group that takes what nobody knows. */
	private static Foreign byDefault(List<String> serve, QueueSettings queue) {
		if (!serve.isEmpty()) {
			return Foreign.SKIP;
		}
		return queue.deadLetters().enabled() ? Foreign.DEAD_LETTER : Foreign.HOLD;
	}

	private void checkNames(String defaultLane, Set<String> named, List<String> serve) {
		this.lookup.require(!defaultLane.equals(ContextRules.UNKNOWN_LANE) && defaultLane.matches(NAME),
				"lanes.default-lane", "a name of letters, digits, '_' and '-' other than 'unknown'");
		named.forEach((lane) -> this.lookup.require(lane.matches(NAME) && !lane.equals(ContextRules.UNKNOWN_LANE),
				"lanes.named",
				"names of letters, digits, '_' and '-' other than 'unknown', and '" + lane + "' is not"));
		serve.forEach((lane) -> this.lookup.require(
				lane.equals(defaultLane) || named.contains(lane) || lane.equals(ContextRules.UNKNOWN_LANE),
				"lanes.serve", "a list of lanes, '" + defaultLane + "', those of lanes.named, or 'unknown'; '" + lane
						+ "' is none of them"));
	}

	private void checkForeign(Foreign foreign, @Nullable String forwardTopic, QueueSettings queue) {
		this.lookup.require(foreign != Foreign.DEAD_LETTER || queue.deadLetters().enabled(), "lanes.on-foreign",
				"skip, hold or forward while dlq.enabled is false");
		this.lookup.require(foreign != Foreign.FORWARD || forwardTopic != null, "lanes.on-foreign",
				"skip, hold or dead_letter while there is no lanes.forward-topic");
		if (forwardTopic != null) {
			this.lookup.require(
					forwardTopic.replace("{topic}", "t").replace("{lane}", "l").matches("[a-zA-Z0-9._-]+")
							&& !forwardTopic.equals("{topic}"),
					"lanes.forward-topic", "the name of another topic, in which {topic} may stand for the source topic "
							+ "and {lane} for the lane");
		}
	}

	private HeaderNames names(String header, Set<String> known, Map<String, Lane> named) {
		Map<String, HeaderNames.Values> rules = new LinkedHashMap<>();
		for (String lane : known) {
			Lane rule = named.get(lane);
			rules.put(lane, new HeaderNames.Values((rule != null && rule.values() != null) ? rule.values() : List.of(),
					(rule != null) ? rule.pattern() : null));
		}
		try {
			return new HeaderNames(header, rules, ContextRules.UNKNOWN_LANE);
		}
		catch (IllegalArgumentException ex) {
			throw this.lookup.refusal("lanes.named", "lanes that no value leaves in doubt, and " + ex.getMessage());
		}
	}

	private static <T> Function<QueueProperties, @Nullable T> ofZone(Function<Zone, @Nullable T> value) {
		return (properties) -> (properties.zone() != null) ? value.apply(properties.zone()) : null;
	}

	private static <T> Function<QueueProperties, @Nullable T> in(Function<Lanes, @Nullable T> value) {
		return (properties) -> (properties.lanes() != null) ? value.apply(properties.lanes()) : null;
	}

}
