package io.queuestarter.benchmarks.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The files of a report: all measurements as JSON, the medians as Markdown, and charts.
 */
final class Report {

	private final Path folder;

	private final Machine machine;

	Report(Path folder, Machine machine) {
		this.folder = folder;
		this.machine = machine;
	}

	/** Draws what has grown, as far as it was run. */
	void write(Growth growth, List<Result> results) {
		Map<String, Result> named = new LinkedHashMap<>();
		results.forEach((result) -> named.put(result.scenario().name(), result));
		try {
			Charts.growth(growth, named, this.folder.resolve(growth.name() + "-rate.svg"), "records/s",
					Measurement::rate);
			Charts.growth(growth, named, this.folder.resolve(growth.name() + "-bytes.svg"), "bytes allocated a record",
					Measurement::bytes);
			Charts.growth(growth, named, this.folder.resolve(growth.name() + "-cpu.svg"), "CPU µs a record",
					Measurement::cpuMicros);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void write(List<Result> results) {
		try {
			Files.createDirectories(this.folder);
			Map<String, Object> content = new LinkedHashMap<>();
			content.put("machine", this.machine);
			content.put("results", results);
			JsonMapper.builder()
				.enable(SerializationFeature.INDENT_OUTPUT)
				.build()
				.writeValue(this.folder.resolve("results.json").toFile(), content);
			List<String> lines = new ArrayList<>();
			lines.add("Measured on: " + this.machine + System.lineSeparator());
			results.forEach((result) -> lines.add(Table.of(result)));
			Files.write(this.folder.resolve("results.md"), lines);
			Charts.overview(results, this.folder.resolve("overview.svg"));
			for (Result result : results) {
				// Those of growth are points of other charts.
				if (!Scenarios.contains(result.scenario().name())) {
					continue;
				}
				Charts.rates(result, this.folder.resolve(result.scenario().name() + ".svg"));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
