package io.queuestarter.intake;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What becomes of records of other zones.
 *
 * @param own zone of this process, or {@code null} if zones make no difference
 * @param mode which records run first
 * @param failOverAfter age from which on {@link Mode#STRICT} takes records of other zones
 */
public record ZoneRule(@Nullable String own, Mode mode, Duration failOverAfter) {

	/**
	 * Zones make no difference.
	 */
	public static final ZoneRule NONE = new ZoneRule(null, Mode.PREFER, Duration.ZERO);

	boolean applies() {
		return this.own != null;
	}

	/**
	 * Which records run first.
	 */
	public enum Mode {

		/** Those of other zones run when none of the own one waits. */
		PREFER,

		/** Those of other zones are not begun before they have a certain age, either. */
		STRICT

	}

}
