package io.queuestarter.sample;

import org.springframework.stereotype.Component;

/**
 * Says what happens in the lanes and, with the figures of the run, what came of it.
 */
@Component
final class LanesNarrator {

	private final Console console;

	private final LanesProperties lanes;

	private final DemoProperties demo;

	LanesNarrator(Console console, LanesProperties lanes, DemoProperties demo) {
		this.console = console;
		this.lanes = lanes;
		this.demo = demo;
	}

	void open() {
		this.console
			.title("Billing: a broken test build floods production's topic for " + Console.time(this.lanes.flooded()));
		this.console.say(
				"Production sends %d trips a second to one partition, the test build %d with the header "
						+ "tenancy=test. One queue handles both, each in a lane of its own.",
				this.lanes.rate(), this.lanes.flood());
		this.console.gap();
	}

	LanesTable table(LanesWatch watch) {
		this.console.lanesColumns();
		return new LanesTable(() -> this.console.lanesLine(watch.look()), this.demo.tick());
	}

	void warmUp() {
		this.console.note("Production is alone and gets warm.");
	}

	void before() {
		this.console.note("Production is alone.");
	}

	void flood() {
		this.console.note("The test build floods the topic: half of its trips fail, half hang.");
	}

	void repaired() {
		this.console.note("The test build is repaired and sends nothing more.");
	}

	void silence() {
		this.console.note("No more trips.");
	}

	void conclude(LanesReport report) {
		this.console.title("What came of it");
		this.console.lanesPhases(report);
		this.console
			.say("Waits count from when a trip was due to be sent until it was handled. The p99 is taken in slices of 2 "
					+ "seconds: the median of those in which the machine was quiet, that is, woke an idle thread no "
					+ "later than %s (p99). The worst is that of all slices.", Console.time(this.lanes.slack()));
		this.console.gap();
		this.console.promises(report.promises());
	}

}
