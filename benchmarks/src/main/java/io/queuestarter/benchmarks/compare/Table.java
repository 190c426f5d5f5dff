package io.queuestarter.benchmarks.compare;

import java.util.List;
import java.util.Locale;

/**
 * The medians of a scenario, as a table for terminals that is one of Markdown as well.
 */
final class Table {

	private static final String HEAD = String.format(
			"| %-17s | %10s | %4s | %8s | %8s | %8s | %8s | %10s | %8s | %8s | %8s | %6s | %5s | %5s |%n", "arm",
			"records/s", "± %", "possible", "parallel", "raw", "CPU µs", "bytes", "p50 ms", "p99 ms", "max ms",
			"idle %", "twice", "lost")
			+ "|-------------------|-----------:|-----:|---------:|---------:|---------:|---------:|-----------:|---------:"
			+ "|---------:|---------:|-------:|------:|------:|" + System.lineSeparator();

	private Table() {
	}

	static String of(Result result) {
		Scenario scenario = result.scenario();
		StringBuilder text = new StringBuilder();
		text.append(String.format("**%s**: %s%n%n%s", scenario.name(), title(result), HEAD));
		for (String arm : result.rounds().keySet()) {
			if (result.rounds().get(arm).isEmpty()) {
				continue;
			}
			double rate = result.median(arm, Measurement::rate);
			text.append(String.format(Locale.ROOT,
					"| %-17s | %,10.0f | %4s | %8s | %8s | %8s | %8s | %10s | %8s | %8s | %8s | %6s | %5d | %5s |%n",
					arm, rate, number("%.0f", 100 * result.spread(arm, Measurement::rate)),
					number("%.2f", scenario.load().hot() ? Double.NaN : rate / scenario.possible()),
					number("%.2f", scenario.load().hot() ? Double.NaN : result.ratioToParallel(arm)),
					number("%.2f", result.ratio(arm, Arms.RAW)),
					number("%.2f", result.median(arm, Measurement::cpuMicros)),
					number("%,.0f", result.median(arm, Measurement::bytes)),
					number("%.2f", result.median(arm, Measurement::p50Millis)),
					number("%.2f", result.median(arm, Measurement::p99Millis)),
					number("%.2f", result.median(arm, Measurement::maxMillis)),
					idle(100 * result.median(arm, Measurement::idleCores)), result.duplicates(arm),
					(result.isComplete(arm) || result.lost(arm) > 0) ? Long.toString(result.lost(arm)) : "no end"));
		}
		return text.append(System.lineSeparator()).toString();
	}

	/** Idleness may be none that the clock could tell. */
	private static String idle(double percent) {
		return Double.isFinite(percent) ? String.format(Locale.ROOT, "%.2f", percent) : "";
	}

	private static String title(Result result) {
		Load load = result.scenario().load();
		int rounds = result.rounds().values().stream().mapToInt(List::size).max().orElse(0);
		return String.format(Locale.ROOT, "%s; %,d records, %d %s", result.scenario().title(), load.records(), rounds,
				(rounds == 1) ? "round" : "rounds");
	}

	private static String number(String format, double value) {
		return (Double.isFinite(value) && value != 0) ? String.format(Locale.ROOT, format, value) : "";
	}

}
