package io.queuestarter.sample;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.ansi.AnsiColor;
import org.springframework.boot.ansi.AnsiElement;
import org.springframework.boot.ansi.AnsiOutput;
import org.springframework.boot.ansi.AnsiStyle;
import org.springframework.stereotype.Component;

/**
 * The console: plain lines, in colour if it is a terminal.
 */
@Component
final class Console {

	/** A wait that a customer would not mind. */
	private static final Duration SHORT = Duration.ofSeconds(1);

	private static final String INDENT = "   ";

	private static final Pattern LINE = Pattern.compile("(.{1,95})(?: |$)");

	private final PrintStream out = System.out;

	void title(String text) {
		gap();
		this.out.println(AnsiOutput.toString(AnsiStyle.BOLD, "== " + text, AnsiStyle.NORMAL));
		gap();
	}

	void gap() {
		this.out.println();
	}

	void say(String format, @Nullable Object... arguments) {
		this.out.println(INDENT + wrap(String.format(Locale.ROOT, format, arguments)));
	}

	/** Something that happens between two lines of the table. */
	void note(String format, @Nullable Object... arguments) {
		this.out.println(AnsiOutput.toString(AnsiColor.CYAN, " > " + String.format(Locale.ROOT, format, arguments),
				AnsiColor.DEFAULT));
	}

	void columns() {
		this.out
			.println("       |       Visa       |    Mastercard    |       commit        |  calls  |  head  |  dead");
		this.out
			.println("  time | charges  p95 wait| charges  p95 wait|  offset  done above | running |   age  | letters");
	}

	void line(Duration time, Duration window, Tally.Waits visa, Tally.Waits mastercard, Progress progress) {
		this.out.println(String.format(Locale.ROOT, "%6s |%s |%s |%8d %11d | %7d | %6s | %7d", time(time),
				lane(visa, window), lane(mastercard, window), progress.committed(), progress.above(),
				progress.inFlight(), time(progress.headAge()), progress.deadLetters()));
	}

	void outageColumns() {
		this.out.println("       |         Visa        |      Mastercard     | waiting  |  dead   |      commit");
		this.out.println("  time | charges    breaker  | charges    breaker  | for retry| letters |  offset   window");
	}

	void outageLine(Duration time, Duration window, Lane visa, Lane mastercard, int retries, Progress progress,
			double fill) {
		this.out.println(
				String.format(Locale.ROOT, "%6s |%s |%s | %8d | %7d | %7d    %3.0f %%", time(time), lane(visa, window),
						lane(mastercard, window), retries, progress.deadLetters(), progress.committed(), fill * 100));
	}

	private static String lane(Lane lane, Duration window) {
		String breaker = String.format(Locale.ROOT, "%10s", lane.breaker().toLowerCase(Locale.ROOT).replace('_', '-'));
		AnsiElement colour = lane.breaker().equals("CLOSED") ? AnsiColor.GREEN : AnsiColor.RED;
		return String.format(Locale.ROOT, "%6.1f/s ", lane.waits().perSecond(window))
				+ AnsiOutput.toString(colour, breaker, AnsiColor.DEFAULT);
	}

	void outageRates(OutageReport report) {
		this.out.println("   charges              Visa    Mastercard");
		outageRate("before", report.before());
		outageRate("Visa down", report.worst());
		gap();
	}

	private void outageRate(String label, OutageReport.Phase phase) {
		this.out.println(String.format(Locale.ROOT, "   %-12s %10.1f/s  %10.1f/s", label, phase.perSecond(Card.VISA),
				phase.perSecond(Card.MASTERCARD)));
	}

	void lanesColumns() {
		this.out.println("       |         production          |           test             |      commit");
		this.out.println("  time | handled      p99    waiting | running  waiting  dead ltrs|  offset   window");
	}

	void lanesLine(LanesWatch.View view) {
		this.out.println(String.format(Locale.ROOT, "%6s |%6.1f/s  %9s  %8d | %7d  %7d  %8d | %7d    %3.0f %%",
				time(view.time()), view.perSecond(), precise(view.p99()), view.waiting(), view.testRunning(),
				view.testWaiting(), view.deadLetters(), view.committed(), view.fill() * 100));
	}

	void lanesPhases(LanesReport report) {
		this.out.println("   production         handled         p99   worst p99   quiet slices");
		lanesPhase("alone", report.before());
		lanesPhase("beside the flood", report.flooded());
		gap();
	}

	private void lanesPhase(String label, LanesReport.Phase phase) {
		this.out.println(String.format(Locale.ROOT, "   %-16s %7.1f/s  %10s  %10s   %6d of %2d", label,
				phase.perSecond(), precise(phase.p99()), precise(phase.worst()), phase.quiet(), phase.slices().size()));
	}

	void promises(List<Promise> promises) {
		this.out.println("   kept   promise");
		for (Promise promise : promises) {
			AnsiElement colour = promise.kept() ? AnsiColor.GREEN : AnsiColor.RED;
			this.out.println("   " + AnsiOutput.toString(colour, promise.kept() ? "yes " : "NO  ", AnsiColor.DEFAULT)
					+ "   " + promise.text());
		}
		gap();
	}

	private static String lane(Tally.Waits waits, Duration window) {
		return String.format(Locale.ROOT, "%6.1f/s ", waits.perSecond(window)) + wait(waits.p95(), 7);
	}

	void summary(Story.Ending ending) {
		this.out.println("   listener   charges   Visa p95   Mastercard p95   still waiting   dead letters");
		for (Result result : ending.results()) {
			String deadLetters = (result.design() == Design.QUEUE) ? Long.toString(ending.poison().deadLetters()) : "-";
			this.out.println(String.format(Locale.ROOT, "   %-8s %7.1f/s   %s   %s   %13d   %12s",
					result.design().label(), result.perSecond(), wait(result.visa(), 8), wait(result.mastercard(), 14),
					result.waiting(), deadLetters));
		}
		gap();
	}

	private static String wait(@Nullable Duration wait, int width) {
		String text = String.format("%" + width + "s", time(wait));
		if (wait == null) {
			return text;
		}
		AnsiElement colour = (wait.compareTo(SHORT) < 0) ? AnsiColor.GREEN : AnsiColor.RED;
		return AnsiOutput.toString(colour, text, AnsiColor.DEFAULT);
	}

	private static String wrap(String text) {
		return LINE.matcher(text).results().map((line) -> line.group(1)).collect(Collectors.joining("\n" + INDENT));
	}

	/** A time as people write it. */
	static String time(@Nullable Duration time) {
		if (time == null) {
			return "-";
		}
		return (time.toMillis() < 1000) ? time.toMillis() + " ms"
				: String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
	}

	/** A short time, to a tenth of a millisecond. */
	static String precise(@Nullable Duration time) {
		return (time == null || time.toMillis() >= 1000) ? time(time)
				: String.format(Locale.ROOT, "%.1f ms", time.toNanos() / 1_000_000.0);
	}

	/**
	 * A provider's part of a line.
	 *
	 * @param waits its charges
	 * @param breaker state of its circuit breaker
	 */
	record Lane(Tally.Waits waits, String breaker) {

	}

}
