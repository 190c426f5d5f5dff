package io.queuestarter.context;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Tells the context of a record by its headers. Fails closed: a record whose lane cannot
 * be told belongs to the lane {@value #UNKNOWN_LANE}, which is served only where that is
 * asked for by name. <em>Immutable.</em>
 */
public final class ContextRules {

	/**
	 * Lane of records that name a lane which no rule knows, or several.
	 */
	public static final String UNKNOWN_LANE = "unknown";

	/**
	 * Looks at no header: all records belong to one lane, which is served.
	 */
	public static final ContextRules NONE = new ContextRules();

	private final @Nullable HeaderNames lanes;

	private final @Nullable HeaderNames zones;

	private final @Nullable String ownZone;

	private final List<String> headers;

	private final RecordContext missing;

	private final Map<String, RecordContext> contexts = new HashMap<>();

	private ContextRules() {
		this.lanes = null;
		this.zones = null;
		this.ownZone = null;
		this.headers = List.of();
		this.missing = RecordContext.DEFAULT;
	}

	/**
	 * Creates rules.
	 * @param lanes maps a header to lanes, or {@code null} if all records are of the
	 * default lane
	 * @param known names of all lanes
	 * @param defaultLane lane of records that name none
	 * @param served names of the lanes served here, in the order of their indexes
	 * @param zones maps a header to zones, or {@code null} if there are none
	 * @param ownZone zone of this process, or {@code null} if it has none
	 */
	public ContextRules(@Nullable HeaderNames lanes, Collection<String> known, String defaultLane, List<String> served,
			@Nullable HeaderNames zones, @Nullable String ownZone) {
		this.lanes = lanes;
		this.zones = zones;
		this.ownZone = ownZone;
		this.headers = Stream.of(lanes, zones).filter(Objects::nonNull).map(HeaderNames::header).distinct().toList();
		for (String lane : known) {
			this.contexts.put(lane, context(lane, served.indexOf(lane)));
		}
		this.contexts.put(UNKNOWN_LANE, context(UNKNOWN_LANE, served.indexOf(UNKNOWN_LANE)));
		this.missing = context(defaultLane, served.indexOf(defaultLane));
		this.contexts.put(defaultLane, this.missing);
	}

	private RecordContext context(String lane, int index) {
		return new RecordContext(lane, index, null, false, this.headers);
	}

	/**
	 * Whether records may belong to a lane.
	 * @param lane name of the lane
	 * @return {@code true} for the default lane, those that are named, and
	 * {@value #UNKNOWN_LANE}
	 */
	public boolean knows(String lane) {
		return this.contexts.containsKey(lane);
	}

	/**
	 * Names of all lanes that a record may belong to, served here or not.
	 * @return the names in alphabetical order, with {@value #UNKNOWN_LANE} if there are
	 * lanes
	 */
	public Set<String> lanes() {
		return (this.lanes != null) ? Collections.unmodifiableSet(new TreeSet<>(this.contexts.keySet()))
				: Set.of(this.missing.lane());
	}

	/**
	 * Context of a record.
	 * @param headers its headers
	 * @return the context
	 */
	public RecordContext of(Headers headers) {
		RecordContext context = this.missing;
		if (this.lanes != null) {
			String lane = this.lanes.nameIn(headers);
			context = (lane != null) ? this.contexts.getOrDefault(lane, context(lane, -1)) : this.missing;
		}
		return (this.zones != null) ? context.in(this.zones.nameIn(headers), this.ownZone) : context;
	}

}
