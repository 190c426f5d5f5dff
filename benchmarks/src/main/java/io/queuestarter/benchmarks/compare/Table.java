package io.queuestarter.benchmarks.compare;

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
		text.append(String.format("**%s**: %s%n%n%s", scenario.name(), scenario.title(), HEAD));
		for (String arm : result.rounds().keySet()) {
			if (result.rounds().get(arm).isEmpty()) {
				continue;
			}
			double rate = result.median(arm, Measurement::rate);
			text.append(String.format(Locale.ROOT,
					"| %-17s | %,10.0f | %4s | %8s | %8s | %8s | %8s | %10s | %8s | %8s | %8s | %6s | %5d | %5s |%n",
					arm, rate, number("%.0f", 100 * result.spread(arm, Measurement::rate)),
					number("%.2f", rate / scenario.possible()), number("%.2f", result.ratio(arm, Arms.PARALLEL)),
					number("%.2f", result.ratio(arm, Arms.RAW)),
					number("%.2f", result.median(arm, Measurement::cpuMicros)),
					number("%,.0f", result.median(arm, Measurement::bytes)),
					number("%.2f", result.median(arm, Measurement::p50Millis)),
					number("%.2f", result.median(arm, Measurement::p99Millis)),
					number("%.2f", result.median(arm, Measurement::maxMillis)),
					number("%.2f", 100 * result.median(arm, Measurement::idleCores)), result.duplicates(arm),
					(result.isComplete(arm) || result.lost(arm) > 0) ? Long.toString(result.lost(arm)) : "no end"));
		}
		return text.append(System.lineSeparator()).toString();
	}

	private static String number(String format, double value) {
		return (Double.isFinite(value) && value != 0) ? String.format(Locale.ROOT, format, value) : "";
	}

}
