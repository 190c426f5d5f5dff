package io.queuestarter.sample;

import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;

/**
 * Sends trips of each tenancy by a timetable, all to one topic. <em>Thread-safe.</em>
 */
@Component
final class TenantTraffic implements DisposableBean {

	private final KafkaTemplate<String, Trip> kafka;

	/** A thread for each tenancy, so that none is late because of the other. */
	private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(Tenancy.values().length);

	@GuardedBy("this")
	private final Map<Tenancy, ScheduledFuture<?>> running = new EnumMap<>(Tenancy.class);

	@GuardedBy("this")
	private final Map<Tenancy, Long> sent = new EnumMap<>(Tenancy.class);

	TenantTraffic(KafkaTemplate<String, Trip> kafka) {
		this.kafka = kafka;
	}

	/** Begins to send. To be called once for a tenancy. */
	synchronized void start(Tenancy tenancy, Timetable timetable) {
		this.running.put(tenancy, this.timer.scheduleAtFixedRate(() -> send(tenancy),
				timetable.startNanos() - System.nanoTime(), timetable.interval().toNanos(), TimeUnit.NANOSECONDS));
	}

	/** Sends nothing more. */
	synchronized void stop(Tenancy tenancy) {
		ScheduledFuture<?> stopped = this.running.remove(tenancy);
		if (stopped != null) {
			stopped.cancel(false);
		}
	}

	private void send(Tenancy tenancy) {
		long number = next(tenancy);
		if (number < 0) {
			return;
		}
		Card[] cards = Card.values();
		Card card = cards[(int) (number % cards.length)];
		ProducerRecord<String, Trip> message = new ProducerRecord<>(LanesQueue.TOPIC,
				new Trip(number, card, Trip.FARE, Instant.now()));
		// Every other trip of production does not say whose it is.
		if (tenancy != Tenancy.PROD || number % 2 == 0) {
			tenancy.writeTo(message.headers());
		}
		this.kafka.send(message);
	}

	/** Number of the next trip, or -1 if there is none. */
	private synchronized long next(Tenancy tenancy) {
		return this.running.containsKey(tenancy) ? this.sent.merge(tenancy, 1L, Long::sum) - 1 : -1;
	}

	/** Number of trips sent, which is the number of the next one. */
	synchronized long sent(Tenancy tenancy) {
		return this.sent.getOrDefault(tenancy, 0L);
	}

	@Override
	public void destroy() {
		this.timer.shutdownNow();
	}

}
