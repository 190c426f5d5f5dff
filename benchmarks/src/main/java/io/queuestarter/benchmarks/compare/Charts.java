package io.queuestarter.benchmarks.compare;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;

import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;

/**
 * Charts of what was measured.
 */
final class Charts {

	private static final Pattern DECIMALS = Pattern.compile("-?\\d+\\.\\d{2,}");

	private Charts() {
	}

	static void rates(Result result, Path file) throws IOException {
		List<String> arms = result.rounds().keySet().stream().filter(result::isComplete).toList();
		if (arms.isEmpty()) {
			return;
		}
		CategoryChart chart = new CategoryChartBuilder().width(760)
			.height(360)
			.title(result.scenario().name() + ": " + result.scenario().title())
			.yAxisTitle((result.scenario().load().rate() > 0) ? "p99, ms" : "records/s")
			.build();
		chart.getStyler().setLegendVisible(false);
		chart.getStyler().setChartBackgroundColor(Color.WHITE);
		chart.getStyler().setLabelsVisible(true);
		chart.getStyler().setYAxisDecimalPattern((result.scenario().load().rate() > 0) ? "#,##0.00" : "#,###");
		chart.addSeries("median", arms,
				arms.stream()
					.map((arm) -> result.median(arm,
							(result.scenario().load().rate() > 0) ? Measurement::p99Millis : Measurement::rate))
					.toList());
		write(chart, file);
	}

	/** Rates of the scenarios without a pace, as multiples of the Parallel Consumer's. */
	static void overview(List<Result> results, Path file) throws IOException {
		List<Result> compared = results.stream()
			.filter((result) -> result.scenario().load().rate() == 0 && result.isComplete(Arms.PARALLEL))
			.toList();
		if (compared.isEmpty()) {
			return;
		}
		CategoryChart chart = new CategoryChartBuilder().width(900)
			.height(420)
			.title("records/s, as multiples of the Parallel Consumer's")
			.yAxisTitle("times")
			.build();
		chart.getStyler().setXAxisLabelRotation(45);
		chart.getStyler().setChartBackgroundColor(Color.WHITE);
		chart.getStyler().setYAxisDecimalPattern("#,##0.0");
		List<String> names = compared.stream().map((result) -> result.scenario().name()).toList();
		for (String arm : List.of(Arms.PARALLEL, Arms.PARALLEL_DEFAULTS, Arms.SHARE, Arms.QUEUE, Arms.ENGINE)) {
			chart.addSeries(arm, names,
					compared.stream()
						.map((result) -> result.isComplete(arm) ? result.ratioToParallel(arm) : 0.0)
						.toList());
		}
		write(chart, file);
	}

	static void growth(Growth growth, Map<String, Result> results, Path file, String title,
			ToDoubleFunction<Measurement> figure) throws IOException {
		XYChart chart = new XYChartBuilder().width(760)
			.height(360)
			.title(title)
			.xAxisTitle(growth.axis())
			.yAxisTitle(title)
			.build();
		chart.getStyler().setChartBackgroundColor(Color.WHITE);
		chart.getStyler().setXAxisLogarithmic(growth.byTens());
		chart.getStyler().setYAxisLogarithmic(true);
		for (String arm : growth.points().get(0).scenario().arms()) {
			List<Integer> numbers = new ArrayList<>();
			List<Double> figures = new ArrayList<>();
			for (Growth.Point point : growth.points()) {
				Result result = results.get(point.scenario().name());
				if (result != null && result.isComplete(arm) && result.median(arm, figure) > 0) {
					numbers.add(point.number());
					figures.add(result.median(arm, figure));
				}
			}
			if (!numbers.isEmpty()) {
				chart.addSeries(arm, numbers, figures);
			}
		}
		if (!chart.getSeriesMap().isEmpty()) {
			write(chart, file);
		}
	}

	/** Text is drawn as shapes; with one decimal they take half the space. */
	private static void write(Chart<?, ?> chart, Path file) throws IOException {
		VectorGraphicsEncoder.saveVectorGraphic(chart, file.toString(), VectorGraphicsFormat.SVG);
		String rounded = DECIMALS.matcher(Files.readString(file))
			.replaceAll((number) -> String.format(Locale.ROOT, "%.1f", Double.parseDouble(number.group())));
		Files.writeString(file, rounded);
	}

}
