package io.queuestarter.sample;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.queuestarter.sample.LanesReport.Phase;
import io.queuestarter.sample.LanesReport.Production;
import io.queuestarter.sample.LanesReport.Slice;

import static org.assertj.core.api.Assertions.assertThat;

class LanesReportTests {

	private static final Map<String, Long> OWN = Map.of("prod", 50L, "none", 50L);

	private static final LanesReport.Test TEST = new LanesReport.Test(200, 180, 4, 180, 20, 0, Map.of("test", 200L));

	private final Phase alone = phase(100, 20, 20, 90);

	private final Production production = new Production(100, 100, 0, OWN);

	@Test
	void isGoodIfProductionNoticesNothing() {
		assertThat(report(phase(100, 20, 20, 20)).good()).isTrue();
	}

	@Test
	void p99IsThatOfTheMedianSlice() {
		assertThat(this.alone.p99()).isEqualTo(Duration.ofMillis(20));
		assertThat(this.alone.worst()).isEqualTo(Duration.ofMillis(90));
	}

	@Test
	void slicesInWhichTheMachinePausedDoNotCount() {
		Slice quiet = new Slice(Duration.ofMillis(20), true);
		Slice busy = new Slice(Duration.ofMillis(90), false);

		assertThat(new Phase(Duration.ofSeconds(1), 100, List.of(busy, busy, quiet)).p99())
			.isEqualTo(Duration.ofMillis(20));
	}

	@Test
	void tooFewQuietSlicesProveNothing() {
		Slice quiet = new Slice(Duration.ofMillis(20), true);
		Slice busy = new Slice(Duration.ofMillis(20), false);

		assertThat(report(new Phase(Duration.ofSeconds(1), 100, List.of(busy, busy, quiet, busy))).good()).isFalse();
		assertThat(report(new Phase(Duration.ofSeconds(1), 100, List.of(busy))).good()).isFalse();
	}

	@Test
	void p99MayGrowByATenthAndTheSlack() {
		assertThat(report(phase(100, 27, 27, 27)).good()).isTrue();
		assertThat(report(phase(100, 28, 28, 28)).good()).isFalse();
	}

	@Test
	void rateMayShrinkByATenth() {
		assertThat(report(phase(90, 20, 20, 20)).good()).isTrue();
		assertThat(report(phase(89, 20, 20, 20)).good()).isFalse();
	}

	@Test
	void oneTripOfTheTestBuildIsTooMany() {
		Production production = new Production(100, 100, 0, Map.of("prod", 50L, "none", 50L, "test", 1L));

		assertThat(report(production, TEST, 0).good()).isFalse();
	}

	@Test
	void noTripOfProductionMayMissOrBeDeadLettered() {
		assertThat(report(new Production(100, 99, 0, OWN), TEST, 0).good()).isFalse();
		assertThat(report(new Production(100, 100, 1, OWN), TEST, 0).good()).isFalse();
	}

	@Test
	void provesNothingIfTheTestLaneIsNotJammed() {
		LanesReport.Test idle = new LanesReport.Test(200, 10, 4, 180, 20, 0, Map.of("test", 200L));

		assertThat(report(this.production, idle, 0).good()).isFalse();
	}

	@Test
	void nothingMayBeLostOrStayUncommitted() {
		LanesReport.Test lost = new LanesReport.Test(200, 180, 4, 179, 20, 1, Map.of("test", 200L));

		assertThat(report(this.production, lost, 0).good()).isFalse();
		assertThat(report(this.production, TEST, 1).good()).isFalse();
	}

	private LanesReport report(Phase flooded) {
		return new LanesReport(this.alone, flooded, Duration.ofMillis(5), this.production, TEST, 0);
	}

	private LanesReport report(Production handled, LanesReport.Test test, long unsettled) {
		return new LanesReport(this.alone, this.alone, Duration.ofMillis(5), handled, test, unsettled);
	}

	private static Phase phase(int handled, int... p99s) {
		return new Phase(Duration.ofSeconds(1), handled,
				IntStream.of(p99s).mapToObj((p99) -> new Slice(Duration.ofMillis(p99), true)).toList());
	}

}
