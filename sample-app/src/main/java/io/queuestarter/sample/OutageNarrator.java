package io.queuestarter.sample;

import java.time.Duration;

import org.springframework.stereotype.Component;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;
import io.queuestarter.outage.CircuitState;

/**
 * Says what happens in the outage and, with the figures of the run, what came of it.
 */
@Component
final class OutageNarrator {

	private final Queues queues;

	private final Console console;

	private final OutageProperties outage;

	private final DemoProperties demo;

	OutageNarrator(Queues queues, Console console, OutageProperties outage, DemoProperties demo) {
		this.queues = queues;
		this.console = console;
		this.outage = outage;
		this.demo = demo;
	}

	void open() {
		this.console.title("Billing: Visa breaks down for " + Console.time(this.outage.down()));
		this.console.say(
				"%d trips a second in one partition, Visa and Mastercard in turn; one of %d is poison: its fare is "
						+ "always declined. Each provider has a circuit breaker of its own.",
				this.outage.rate(), this.outage.poisonEvery());
		this.console.gap();
	}

	LiveTable table(Run run) {
		this.console.outageColumns();
		Queue queue = queue();
		return new LiveTable(run,
				(time, window, visa, mastercard, progress) -> this.console.outageLine(time, window,
						new Console.Lane(visa, breaker(queue, Card.VISA)),
						new Console.Lane(mastercard, breaker(queue, Card.MASTERCARD)), queue.retryWaiting(), progress,
						queue.partitions().stream().mapToDouble(PartitionView::fill).max().orElse(0)),
				this.demo.tick());
	}

	private Queue queue() {
		return this.queues.find(Design.QUEUE.listener()).orElseThrow();
	}

	private static String breaker(Queue queue, Card card) {
		return queue.circuitStates()
			.stream()
			.filter((circuit) -> circuit.name().endsWith("." + card.path()))
			.map(CircuitState::state)
			.findFirst()
			.orElse("-");
	}

	void before() {
		this.console.note("Both providers answer in %s.", Console.time(this.demo.fast()));
	}

	void down() {
		this.console.note("Visa is down: every call fails.");
	}

	void wellAgain() {
		this.console.note("Visa is well again.");
	}

	void caughtUp() {
		this.console.note("No more poison.");
	}

	void silence() {
		this.console.note("No more trips.");
	}

	void conclude(OutageReport report) {
		this.console.title("What came of it");
		this.console.outageRates(report);
		Duration caughtUp = report.caughtUp();
		this.console.say(
				(caughtUp != null)
						? "%s after the outage none of its trips was waiting any more: the breaker finds out every 10 "
								+ "seconds whether Visa answers."
						: "%s after the outage some of its trips were still waiting.",
				Console.time((caughtUp != null) ? caughtUp : this.outage.patience()));
		this.console.gap();
		this.console.promises(report.promises());
	}

}
