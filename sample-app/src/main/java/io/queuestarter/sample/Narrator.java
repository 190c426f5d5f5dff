package io.queuestarter.sample;

import java.util.List;

import org.springframework.stereotype.Component;

/**
 * Says what an act is about and, with the figures of the run, what came of it.
 */
@Component
final class Narrator {

	private final Console console;

	private final DemoProperties demo;

	Narrator(Console console, DemoProperties demo) {
		this.console = console;
		this.demo = demo;
	}

	void open() {
		this.console.title(
				"Billing: %d trips a second in one partition, Visa and Mastercard in turn".formatted(this.demo.rate()));
		this.console
			.say("The same traffic meets three listeners, one after the other. The table shows for each provider "
					+ "the charges a second and the p95 wait: 95 of 100 trips waited no longer from their end to their charge.");
	}

	void announce(Design design) {
		this.console.title("Act %d: %s".formatted(design.ordinal() + 1, design.description()));
	}

	void announcePoison() {
		this.console.title("Act %d: @QueueListener and a poison pill".formatted(Design.values().length + 1));
	}

	/** Concludes the act that the last result is of. */
	void conclude(List<Result> results) {
		Result result = results.get(results.size() - 1);
		this.console.gap();
		String mastercard = Console.time(result.mastercard());
		switch (result.design()) {
			case NATIVE -> {
				this.console.say(
						"A Mastercard call took %s, yet its trips waited %s (p95; Visa's %s), and %d trips "
								+ "still wait.",
						Console.time(this.demo.fast()), mastercard, Console.time(result.visa()), result.waiting());
				this.console
					.say("One record is handled after the other: whoever stands behind a slow Visa call waits for it.");
			}
			case PARALLEL -> {
				this.console.say(
						"Threads raised the rate from %.1f to %.1f charges a second, but Mastercard waited %s (p95).",
						results.get(0).perSecond(), result.perSecond(), mastercard);
				this.console
					.say("A batch ends with its slowest call: for %s the commit was frozen, %d charged trips hung "
							+ "on it, and nothing new was fetched.", Console.time(result.freeze()), result.above());
			}
			case QUEUE -> {
				this.console.say(
						"The straggler held the commit for %s, %d trips above it were charged meanwhile, and "
								+ "Mastercard waited %s (p95).",
						Console.time(result.freeze()), result.above(), mastercard);
				this.console.say(
						"Each record is settled on its own and remembered above the watermark, so a slow one holds up "
								+ "nobody; %s.",
						result.passed() ? "once it was done, the watermark passed it and all of them"
								: "it is still under way");
			}
		}
	}

	void conclude(PoisonAct.Outcome poison) {
		this.console.gap();
		if (!poison.passed()) {
			this.console.say(
					"The trip at offset %d was declined %d times and holds the watermark, %s after it was sent.",
					poison.offset(), poison.attempts(), Console.time(poison.time()));
			return;
		}
		this.console.say(
				"The trip at offset %d was declined %d times and moved to %s-dlq, %s after it was sent; dead "
						+ "letters: %d.",
				poison.offset(), poison.attempts(), Design.QUEUE.topic(), Console.time(poison.time()),
				poison.deadLetters());
		this.console.say("Attempts are counted per record and a dead letter settles it: the watermark passed it, and "
				+ "%.1f charges a second went on.", poison.perSecond());
	}

	void compare(Story.Ending ending) {
		this.console.title("The three compared, while Visa was slow");
		this.console.summary(ending);
	}

}
