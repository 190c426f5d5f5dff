package io.queuestarter.log;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.testkit.LogLines;
import io.queuestarter.testkit.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

class LogLimitTests {

	private static final Logger LOGGER = LoggerFactory.getLogger(LogLimitTests.class);

	private final ManualClock clock = new ManualClock();

	private final LogLimit limit = new LogLimit(this.clock::nanoTime);

	private final LogLines lines = LogLines.of(LogLimitTests.class.getName(), Level.DEBUG);

	@AfterEach
	void close() {
		this.lines.close();
	}

	@Test
	void firstEventIsToldAtOnceAndOthersAtDebug() {
		this.limit.warn(LOGGER, "{} failed", "orders-3@42");
		this.limit.warn(LOGGER, "{} failed", "orders-3@43");

		assertThat(this.lines.texts(Level.WARN)).containsExactly("orders-3@42 failed");
		assertThat(this.lines.texts(Level.DEBUG)).containsExactly("orders-3@43 failed");
	}

	@Test
	void whatWasNotToldIsCountedWithTheNextLine() {
		for (int event = 0; event < 38; event++) {
			this.limit.warn(LOGGER, "failed");
		}
		this.clock.advance(Duration.ofSeconds(10).minusNanos(1));
		this.limit.warn(LOGGER, "failed");
		this.clock.advance(Duration.ofNanos(1));
		this.limit.warn(LOGGER, "failed again");
		this.clock.advance(Duration.ofMinutes(1));
		this.limit.warn(LOGGER, "failed at last");

		assertThat(this.lines.texts(Level.WARN)).containsExactly("failed",
				"failed again, and 38 more since the last such line", "failed at last");
	}

	@Test
	void stackTraceComesWithTheLinesThatAreTold() {
		IllegalStateException error = new IllegalStateException("down");

		this.limit.warn(LOGGER, "{} failed", "orders-3@42", error);

		assertThat(this.lines.stacks(Level.WARN)).isOne();
		assertThat(this.lines.texts(Level.WARN)).containsExactly("orders-3@42 failed");
	}

	@Test
	void exceptionThatCannotBeDescribedIsNamed() {
		this.limit.warn(LOGGER, "{} failed", "orders-3@42", new Hostile());

		assertThat(this.lines.texts(Level.WARN)).containsExactly("orders-3@42 failed: " + Hostile.class.getName());
	}

	@Test
	void eventsOfManyThreadsGiveOneLine() throws InterruptedException {
		ExecutorService pool = Executors.newFixedThreadPool(8);
		CountDownLatch start = new CountDownLatch(1);
		for (int thread = 0; thread < 8; thread++) {
			pool.execute(() -> {
				try {
					start.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				for (int event = 0; event < 100; event++) {
					this.limit.warn(LOGGER, "failed");
				}
			});
		}
		start.countDown();
		pool.shutdown();
		assertThat(pool.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
		this.clock.advance(Duration.ofSeconds(10));
		this.limit.warn(LOGGER, "failed");

		assertThat(this.lines.texts(Level.WARN)).containsExactly("failed",
				"failed, and 799 more since the last such line");
	}

	static final class Hostile extends RuntimeException {

		private static final long serialVersionUID = 1L;

		@Override
		public String getMessage() {
			throw new UnsupportedOperationException("no message");
		}

	}

}
