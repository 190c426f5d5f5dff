package io.queuestarter.deadletter;

import java.time.Duration;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Delivery;

/**
 * How one queue writes its dead letters.
 *
 * @param listener id of the queue
 * @param group its consumer group
 * @param fallback tells where a record goes that is too large for its retry or park
 * topic; {@code null} if nowhere
 * @param onTooLarge what becomes of a record that is too large for the dead-letter topic
 * @param firstPause pause after a first failed write, doubled with each further one
 * @param maxPause longest pause after a failed write
 */
public record DeadLetterSettings(String listener, String group, Function<Delivery, @Nullable Destination> fallback,
		TooLarge onTooLarge, Duration firstPause, Duration maxPause) {

	Duration pauseAfter(int failures) {
		Duration pause = this.firstPause.multipliedBy(1L << Math.min(failures - 1, 20));
		return (pause.compareTo(this.maxPause) < 0) ? pause : this.maxPause;
	}

}
