package io.queuestarter.testkit;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

import io.queuestarter.delivery.TimeSource;

/**
 * Clock that a test sets. <em>Thread-safe.</em>
 */
public final class ManualClock implements TimeSource {

	private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

	private final AtomicLong nanos = new AtomicLong();

	public void advance(Duration duration) {
		this.nanos.addAndGet(duration.toNanos());
	}

	@Override
	public long nanoTime() {
		return this.nanos.get();
	}

	@Override
	public Instant now() {
		return START.plusNanos(this.nanos.get());
	}

}
