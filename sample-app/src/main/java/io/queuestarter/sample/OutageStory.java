package io.queuestarter.sample;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

import io.queuestarter.sample.OutageReport.Phase;

/**
 * The other story: Visa is down for a while under load, and a few trips are poison. The
 * queue is to dead-letter these and no others, to go on with Mastercard meanwhile, and to
 * lose nothing.
 */
@Component
final class OutageStory {

	private static final Design QUEUE = Design.QUEUE;

	private final Stage stage;

	private final Providers providers;

	private final Cluster cluster;

	private final DeadLetterTopic deadLetters;

	private final OutageNarrator narrator;

	private final OutageProperties outage;

	private final DemoProperties demo;

	OutageStory(Stage stage, Providers providers, Cluster cluster, DeadLetterTopic deadLetters, OutageNarrator narrator,
			OutageProperties outage, DemoProperties demo) {
		this.stage = stage;
		this.providers = providers;
		this.cluster = cluster;
		this.deadLetters = deadLetters;
		this.narrator = narrator;
		this.outage = outage;
		this.demo = demo;
	}

	/** Tells the story; nothing goes on after it. */
	OutageReport tell() throws InterruptedException {
		this.narrator.open();
		this.stage.open(QUEUE);
		long firstLetter = this.deadLetters.end();
		Run run = this.stage.restart(QUEUE, 0, this.outage.load());
		LiveTable table = this.narrator.table(run);

		this.narrator.before();
		Phase before = play(table, run.tally(), this.outage.before());
		this.narrator.down();
		this.providers.of(Card.VISA).set(this.demo.fast(), 1);
		List<Phase> down = new ArrayList<>();
		for (int stretch = 0; stretch < this.outage.stretches(); stretch++) {
			down.add(play(table, run.tally(), this.outage.down().dividedBy(this.outage.stretches())));
		}
		this.narrator.wellAgain();
		this.providers.calm(this.demo.fast());
		Duration caughtUp = catchUp(table, run.tally());
		end(table, run, firstLetter);

		OutageReport report = new OutageReport(before, down, caughtUp, run.tally().sent(), run.tally().poison(),
				this.deadLetters.tripsFrom(firstLetter), charged(run.tally()), this.cluster.committed(QUEUE),
				this.cluster.end(QUEUE.topic()));
		this.stage.close(QUEUE);
		this.narrator.conclude(report);
		return report;
	}

	private static Phase play(LiveTable table, Tally tally, Duration time) throws InterruptedException {
		Instant start = Instant.now();
		Map<Card, Long> charged = new EnumMap<>(Card.class);
		tally.chargedByCard().forEach((card, trips) -> charged.merge(card, -trips, Long::sum));
		table.play(time);
		tally.chargedByCard().forEach((card, trips) -> charged.merge(card, trips, Long::sum));
		return new Phase(Duration.between(start, Instant.now()), charged);
	}

	/** Goes on until no trip of the outage waits; null if that takes too long. */
	private @Nullable Duration catchUp(LiveTable table, Tally tally) throws InterruptedException {
		Instant start = Instant.now();
		boolean done = table.playUntil((progress) -> {
			Instant now = Instant.now();
			return tally.oldestAge(now).compareTo(Duration.between(start, now)) < 0;
		}, this.outage.patience());
		return done ? Duration.between(start, Instant.now()) : null;
	}

	/**
	 * A failing trip is given up only while others succeed, so traffic goes on until the
	 * last poison is.
	 */
	private void end(LiveTable table, Run run, long firstLetter) throws InterruptedException {
		this.narrator.caughtUp();
		this.stage.send(run, this.outage.load().withoutPoison());
		long expected = firstLetter + run.tally().poison().size();
		table.playUntil((progress) -> this.deadLetters.end() >= expected, this.outage.patience());
		this.narrator.silence();
		this.stage.silence();
		table.playUntil(
				(progress) -> run.tally().waiting() == 0 && progress.committed() == this.cluster.end(QUEUE.topic()),
				this.outage.patience());
	}

	private static long charged(Tally tally) {
		return tally.chargedByCard().values().stream().mapToLong(Long::longValue).sum();
	}

}
