package io.queuestarter.sample;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.apache.kafka.clients.producer.ProducerRecord;
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

	/** Header that tells which provider a trip depends on; see application.yml. */
	private static final String PROVIDER = "provider";

	private final KafkaTemplate<String, Trip> kafka;

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	@GuardedBy("this")
	private @Nullable ScheduledFuture<?> running;

	@GuardedBy("this")
	private long number;

	@GuardedBy("this")
	private int turn;

	Traffic(KafkaTemplate<String, Trip> kafka) {
		this.kafka = kafka;
	}

	/** Begins to send to a design's topic, instead of what was sent before. */
	synchronized void start(Design design, Tally tally, Load load) {
		stop();
		this.running = this.timer.scheduleAtFixedRate(() -> next(design, tally, load), 0,
				TimeUnit.SECONDS.toMicros(1) / load.perSecond(), TimeUnit.MICROSECONDS);
	}

	synchronized void stop() {
		if (this.running != null) {
			this.running.cancel(false);
			this.running = null;
		}
	}

	private synchronized void next(Design design, Tally tally, Load load) {
		if (this.running == null) {
			return;
		}
		Card[] cards = Card.values();
		Card card = cards[this.turn % cards.length];
		send(design, tally, card, load.fareAfter(this.turn));
		this.turn++;
	}

	/** Sends a Visa trip of an unusual fare in between; gives its offset. */
	synchronized CompletableFuture<Long> slipIn(Design design, Tally tally, long cents) {
		return send(design, tally, Card.VISA, cents);
	}

	@GuardedBy("this")
	private CompletableFuture<Long> send(Design design, Tally tally, Card card, long cents) {
		Trip trip = new Trip(this.number++, card, cents, Instant.now());
		tally.sent(trip);
		ProducerRecord<String, Trip> message = new ProducerRecord<>(design.topic(), trip);
		message.headers().add(PROVIDER, card.path().getBytes(StandardCharsets.UTF_8));
		return this.kafka.send(message).thenApply((result) -> result.getRecordMetadata().offset());
	}

	@Override
	public void destroy() {
		this.timer.shutdownNow();
	}

}
