package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.springframework.stereotype.Component;

/**
 * The part of the story that all listeners play: both providers are fast, then Visa gets
 * slow, and one trip is a straggler.
 */
@Component
final class Act {

	private final Stage stage;

	private final Providers providers;

	private final Console console;

	private final DemoProperties demo;

	Act(Stage stage, Providers providers, Console console, DemoProperties demo) {
		this.stage = stage;
		this.providers = providers;
		this.console = console;
		this.demo = demo;
	}

	/** Plays the act; the listener and its traffic go on. */
	Result play(Design design) throws InterruptedException {
		Run run = this.stage.open(design);
		LiveTable table = new LiveTable(run, this.console::line, this.demo.tick());
		this.console.columns();
		this.console.note("Both providers answer in " + Console.time(this.demo.fast()) + ".");
		table.play(this.demo.calm());

		this.providers.of(Card.VISA).set(this.demo.slow(), 0);
		Instant rush = Instant.now();
		this.console.note("Visa slows down to " + Console.time(this.demo.slow()) + " a call.");
		table.play(this.demo.tick());
		long straggler = run.slipIn(Trip.CHECKED_FARE);
		this.console.note("A straggler: Visa checks the trip at offset %d by hand, %s for this one.", straggler,
				Console.time(this.demo.slow().multipliedBy(Provider.CHECK_FACTOR)));
		table.play(this.demo.rush().minus(this.demo.tick()));

		Duration time = Duration.between(rush, Instant.now());
		Tally tally = run.tally();
		return new Result(design, tally.waits(null, rush).perSecond(time),
				Objects.requireNonNullElse(tally.waits(Card.VISA, rush).p95(), time),
				Objects.requireNonNullElse(tally.waits(Card.MASTERCARD, rush).p95(), time), tally.waiting(),
				table.peaks().longestFreeze(), table.peaks().mostAbove(), run.watch().look().committed() > straggler);
	}

}
