package io.queuestarter.observe;

import java.util.function.ToDoubleFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import org.jspecify.annotations.Nullable;

/**
 * A number that a subject tells whenever it is asked.
 *
 * @param <T> type of the subject
 * @param name name of the meter
 * @param kind whether the number only grows
 * @param unit what is counted
 * @param value tells the number
 */
record Measure<T>(String name, Kind kind, String unit, ToDoubleFunction<T> value) {

	void register(T subject, Tags tags, MeterRegistry registry) {
		switch (this.kind) {
			case GAUGE ->
				Gauge.builder(this.name, subject, this::valueOf).baseUnit(this.unit).tags(tags).register(registry);
			case COUNTER -> FunctionCounter.builder(this.name, subject, this::valueOf)
				.baseUnit(this.unit)
				.tags(tags)
				.register(registry);
		}
	}

	private double valueOf(@Nullable T subject) {
		return (subject != null) ? this.value.applyAsDouble(subject) : 0;
	}

	enum Kind {

		GAUGE, COUNTER

	}

}
