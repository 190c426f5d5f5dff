package io.queuestarter.sample;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.LongStream;

import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.stereotype.Component;

import io.queuestarter.container.Queues;
import io.queuestarter.sample.LanesReport.Phase;
import io.queuestarter.sample.LanesReport.Slice;

/**
 * The third story: a broken test build floods the topic that it shares with production
 * with trips of which half fail and half hang. Production is not to notice. May be told
 * once.
 */
@Component
final class LanesStory {

	/** Time over which one p99 is taken. */
	private static final Duration SLICE = Duration.ofSeconds(2);

	private final KafkaListenerEndpointRegistry listeners;

	private final Queues queues;

	private final TenantTraffic traffic;

	private final ProductionBuild production;

	private final BrokenBuild test;

	private final LanesTopics topics;

	private final LanesNarrator narrator;

	private final LanesProperties lanes;

	LanesStory(KafkaListenerEndpointRegistry listeners, Queues queues, TenantTraffic traffic,
			ProductionBuild production, BrokenBuild test, LanesTopics topics, LanesNarrator narrator,
			LanesProperties lanes) {
		this.listeners = listeners;
		this.queues = queues;
		this.traffic = traffic;
		this.production = production;
		this.test = test;
		this.topics = topics;
		this.narrator = narrator;
		this.lanes = lanes;
	}

	/** Tells the story; nothing goes on after it. */
	LanesReport tell() throws InterruptedException {
		try (Hiccups hiccups = Hiccups.watch()) {
			return tell(hiccups);
		}
	}

	private LanesReport tell(Hiccups hiccups) throws InterruptedException {
		this.narrator.open();
		this.topics.skipToEnd();
		container().start();
		Timetable timetable = Timetable.fromNow(this.lanes.rate());
		WaitLog handled = new WaitLog(timetable);
		this.production.expect(handled);
		LanesWatch watch = new LanesWatch(this.queues.find(LanesQueue.ID).orElseThrow(), timetable, this.traffic,
				handled, this.test);
		LanesTable table = this.narrator.table(watch);

		this.narrator.warmUp();
		this.traffic.start(Tenancy.PROD, timetable);
		table.play(this.lanes.warmUp());
		this.topics.mark();
		this.narrator.before();
		Span before = play(table, handled, this.lanes.before());
		this.narrator.flood();
		this.traffic.start(Tenancy.TEST, Timetable.fromNow(this.lanes.flood()));
		Span flooded = play(table, handled, this.lanes.flooded());
		this.traffic.stop(Tenancy.TEST);
		long waiting = watch.testWaiting();
		end(table, watch, handled);

		LanesReport report = new LanesReport(phase(before, handled, hiccups), phase(flooded, handled, hiccups),
				this.lanes.slack(), production(handled.count()), test(waiting), this.topics.unsettled());
		container().stop();
		this.narrator.conclude(report);
		return report;
	}

	private MessageListenerContainer container() {
		return Objects.requireNonNull(this.listeners.getListenerContainer(LanesQueue.ID));
	}

	private static Span play(LanesTable table, WaitLog handled, Duration time) throws InterruptedException {
		long start = System.nanoTime();
		int before = handled.count();
		table.play(time);
		return new Span(start, System.nanoTime(), handled.count() - before);
	}

	private void end(LanesTable table, LanesWatch watch, WaitLog handled) throws InterruptedException {
		this.narrator.repaired();
		this.test.repair();
		table.playUntil(() -> watch.testWaiting() == 0, this.lanes.patience());
		this.narrator.silence();
		this.traffic.stop(Tenancy.PROD);
		table.playUntil(() -> this.traffic.sent(Tenancy.PROD) == handled.count() && this.topics.unsettled() == 0,
				this.lanes.patience());
	}

	/** Of the trips that were due in a span; to be told when all are handled. */
	private Phase phase(Span span, WaitLog handled, Hiccups hiccups) {
		long slices = Math.max(1, span.time().dividedBy(SLICE));
		List<Slice> waits = new ArrayList<>();
		for (long slice = 0; slice < slices; slice++) {
			long from = span.after(slice, slices);
			long to = span.after(slice + 1, slices);
			Duration late = p99(hiccups.between(from, to), span);
			waits.add(new Slice(p99(handled.between(from, to), span), late.compareTo(this.lanes.slack()) <= 0));
		}
		return new Phase(span.time(), span.handled(), waits);
	}

	private static Duration p99(Tally.Waits waits, Span span) {
		return Objects.requireNonNullElse(waits.percentile(99), span.time());
	}

	private LanesReport.Production production(long handled) {
		return new LanesReport.Production(this.traffic.sent(Tenancy.PROD), handled,
				this.topics.deadLetters(Tenancy.PROD).size(), this.production.seen());
	}

	private LanesReport.Test test(long waiting) {
		long sent = this.traffic.sent(Tenancy.TEST);
		List<Long> letters = this.topics.deadLetters(Tenancy.TEST);
		Set<Long> known = new HashSet<>(letters);
		known.addAll(this.test.handled());
		long lost = LongStream.range(0, sent).filter((number) -> !known.contains(number)).count();
		return new LanesReport.Test(sent, waiting, this.test.mostRunning(), this.test.handledCount(), letters.size(),
				lost, this.test.seen());
	}

	/**
	 * A part of the story.
	 *
	 * @param start when it began, in nanoseconds
	 * @param end when it ended
	 * @param handled trips of production handled meanwhile
	 */
	private record Span(long start, long end, int handled) {

		Duration time() {
			return Duration.ofNanos(this.end - this.start);
		}

		/** When so many of a number of equal parts are over. */
		long after(long parts, long of) {
			return this.start + (this.end - this.start) / of * parts;
		}

	}

}
