package io.queuestarter.sample;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;

/**
 * Sends trips at a steady rate, paid with Visa and Mastercard in turn.
 * <em>Thread-safe.</em>
 */
@Component
final class Traffic implements DisposableBean {

	private final KafkaTemplate<String, Trip> kafka;

	private final long periodMicros;

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	@GuardedBy("this")
	private @Nullable ScheduledFuture<?> running;

	@GuardedBy("this")
	private long number;

	@GuardedBy("this")
	private int turn;

	Traffic(KafkaTemplate<String, Trip> kafka, DemoProperties demo) {
		this.kafka = kafka;
		this.periodMicros = TimeUnit.SECONDS.toMicros(1) / demo.rate();
	}

	/** Begins to send to a design's topic, instead of another's. */
	synchronized void start(Design design, Tally tally) {
		stop();
		this.running = this.timer.scheduleAtFixedRate(() -> next(design, tally), 0, this.periodMicros,
				TimeUnit.MICROSECONDS);
	}

	synchronized void stop() {
		if (this.running != null) {
			this.running.cancel(false);
			this.running = null;
		}
	}

	private synchronized void next(Design design, Tally tally) {
		if (this.running == null) {
			return;
		}
		Card[] cards = Card.values();
		send(design, tally, cards[this.turn++ % cards.length], Trip.FARE);
	}

	/** Sends a Visa trip of an unusual fare in between; gives its offset. */
	synchronized CompletableFuture<Long> slipIn(Design design, Tally tally, long cents) {
		return send(design, tally, Card.VISA, cents);
	}

	@GuardedBy("this")
	private CompletableFuture<Long> send(Design design, Tally tally, Card card, long cents) {
		Trip trip = new Trip(this.number++, card, cents, Instant.now());
		tally.sent(trip);
		return this.kafka.send(design.topic(), trip).thenApply((result) -> result.getRecordMetadata().offset());
	}

	@Override
	public void destroy() {
		this.timer.shutdownNow();
	}

}
