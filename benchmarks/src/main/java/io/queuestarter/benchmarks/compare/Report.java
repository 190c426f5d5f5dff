package io.queuestarter.benchmarks.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The files of a report: all measurements as JSON, the medians as Markdown, and charts.
 * What is in the folder already stays, but for scenarios that are run again.
 */
final class Report {

	private static final TypeReference<List<Part>> PARTS = new TypeReference<>() {
	};

	private final JsonMapper mapper = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

	private final Path folder;

	private final Path json;

	private final List<Part> parts;

	private final Part own;

	Report(Path folder, Machine machine) {
		this.folder = folder;
		this.json = folder.resolve("results.json");
		this.parts = read();
		this.own = this.parts.stream()
			.filter((part) -> part.machine().equals(machine))
			.findFirst()
			.orElseGet(() -> new Part(machine, new ArrayList<>()));
		this.parts.remove(this.own);
		this.parts.add(this.own);
	}

	private List<Part> read() {
		try {
			return Files.exists(this.json) ? new ArrayList<>(this.mapper.readValue(this.json.toFile(), PARTS))
					: new ArrayList<>();
		}
		catch (JacksonException ex) {
			throw new IllegalArgumentException(
					"'" + this.json + "' is no report to go on with; move it away, or name another folder by out=", ex);
		}
	}

	/** Adds what was measured, and writes all files anew. */
	void add(Result result) {
		String name = result.scenario().name();
		this.parts.forEach((part) -> part.results().removeIf((other) -> other.scenario().name().equals(name)));
		this.own.results().add(result);
		write();
	}

	/** Writes all files anew. */
	void write() {
		this.parts.removeIf((part) -> part.results().isEmpty());
		try {
			Files.createDirectories(this.folder);
			this.mapper.writeValue(this.json.toFile(), this.parts);
			writeTables();
			draw();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void writeTables() throws IOException {
		List<String> lines = new ArrayList<>();
		for (Part part : this.parts) {
			lines.add("Measured on: " + part.machine() + System.lineSeparator());
			part.results().forEach((result) -> lines.add(Table.of(result)));
		}
		Files.write(this.folder.resolve("results.md"), lines);
	}

	private void draw() throws IOException {
		Map<String, Result> results = new LinkedHashMap<>();
		this.parts.stream()
			.flatMap((part) -> part.results().stream())
			.forEach((result) -> results.put(result.scenario().name(), result));
		Charts.overview(List.copyOf(results.values()), this.folder.resolve("overview.svg"));
		for (Result result : results.values()) {
			// Those of growth are points of other charts.
			if (Scenarios.contains(result.scenario().name())) {
				Charts.rates(result, this.folder.resolve(result.scenario().name() + ".svg"));
			}
		}
		for (Growth growth : Growth.all()) {
			draw(growth, results);
		}
	}

	/** Draws what has grown, as far as it was run. */
	private void draw(Growth growth, Map<String, Result> results) throws IOException {
		Charts.growth(growth, results, this.folder.resolve(growth.name() + "-rate.svg"), "records/s",
				Measurement::rate);
		Charts.growth(growth, results, this.folder.resolve(growth.name() + "-bytes.svg"), "bytes allocated a record",
				Measurement::bytes);
		Charts.growth(growth, results, this.folder.resolve(growth.name() + "-cpu.svg"), "CPU µs a record",
				Measurement::cpuMicros);
	}

	/**
	 * What was measured on one machine with one commit on one day.
	 *
	 * @param machine the machine
	 * @param results what was measured
	 */
	record Part(Machine machine, List<Result> results) {

	}

}
