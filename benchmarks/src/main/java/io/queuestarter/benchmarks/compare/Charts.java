package io.queuestarter.benchmarks.compare;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;

/**
 * Charts of what was measured.
 */
final class Charts {

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
		chart.getStyler().setYAxisDecimalPattern("#,###.##");
		chart.addSeries("median", arms,
				arms.stream()
					.map((arm) -> result.median(arm,
							(result.scenario().load().rate() > 0) ? Measurement::p99Millis : Measurement::rate))
					.toList());
		VectorGraphicsEncoder.saveVectorGraphic(chart, file.toString(), VectorGraphicsFormat.SVG);
	}

}
