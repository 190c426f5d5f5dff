package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;

import org.springframework.stereotype.Component;

/**
 * The last act: the queue gets a trip that no provider will ever accept.
 */
@Component
final class PoisonAct {

	private final Stage stage;

	private final Providers providers;

	private final Console console;

	private final DemoProperties demo;

	PoisonAct(Stage stage, Providers providers, Console console, DemoProperties demo) {
		this.stage = stage;
		this.providers = providers;
		this.console = console;
		this.demo = demo;
	}

	/** Plays the act with the queue that already runs; queue and traffic go on. */
	Outcome play() throws InterruptedException {
		this.providers.calm(this.demo.fast());
		Run run = this.stage.restart(Design.QUEUE, 0);
		LiveTable table = new LiveTable(run, this.console::line, this.demo.tick());
		long before = run.watch().look().deadLetters();
		this.console.columns();
		this.console.note("Visa is well again: both providers answer in " + Console.time(this.demo.fast()) + ".");
		table.play(this.demo.tick().multipliedBy(2));

		Instant start = Instant.now();
		long poison = run.slipIn(Trip.POISON_FARE);
		this.console.note("A poison pill: the trip at offset %d has a fare that is always declined.", poison);
		boolean passed = table.playUntil((progress) -> progress.deadLetters() > before && progress.committed() > poison,
				this.demo.patience());
		Duration time = Duration.between(start, Instant.now());
		table.play(this.demo.tick().multipliedBy(3));

		return new Outcome(poison, run.tally().failures(), run.watch().look().deadLetters() - before, passed, time,
				run.tally().waits(null, start).perSecond(Duration.between(start, Instant.now())));
	}

	/**
	 * What became of the poison pill.
	 *
	 * @param offset its offset
	 * @param attempts attempts that failed
	 * @param deadLetters dead letters since
	 * @param passed whether it was dead-lettered and the commit passed it
	 * @param time how long that took
	 * @param perSecond charges a second meanwhile and after
	 */
	record Outcome(long offset, int attempts, long deadLetters, boolean passed, Duration time, double perSecond) {

	}

}
