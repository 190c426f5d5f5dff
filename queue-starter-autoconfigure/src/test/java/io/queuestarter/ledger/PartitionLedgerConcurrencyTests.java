package io.queuestarter.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("threads")
@Timeout(60)
class PartitionLedgerConcurrencyTests {

	private static final int RECORDS = 300_000;

	private static final int SETTLERS = 4;

	@ParameterizedTest
	@MethodSource("io.queuestarter.testkit.Threads#kinds")
	void watermarkNeverPassesAnUnsettledRecordAndEndsAtTheEnd(ThreadFactory threads) throws Exception {
		SplittableRandom random = Seeds.random("PartitionLedgerConcurrencyTests");
		for (int window : new int[] { 1, 2, 3, 65, 1000 }) {
			new Run(window, (window < 65) ? RECORDS / 5 : RECORDS, threads, random).run();
		}
	}

	private static final class Run {

		private final PartitionLedger<Long> ledger;

		private final int records;

		private final AtomicIntegerArray settled;

		private final BlockingQueue<Long> delivered = new LinkedBlockingQueue<>();

		private final Semaphore told = new Semaphore(0);

		private final List<Thread> settlers = new ArrayList<>();

		Run(int window, int records, ThreadFactory threads, SplittableRandom random) {
			this.ledger = new PartitionLedger<>(window, 0, OffsetRanges.EMPTY);
			this.records = records;
			this.settled = new AtomicIntegerArray(records);
			for (int i = 0; i < SETTLERS; i++) {
				SplittableRandom own = random.split();
				this.settlers.add(threads.newThread(() -> settle(own)));
			}
		}

		void run() throws Exception {
			this.settlers.forEach(Thread::start);
			int appended = 0;
			long watermark = 0;
			while (watermark < this.records) {
				for (; appended < this.records && !this.ledger.isFull(); appended++) {
					this.delivered.add(this.ledger.append(appended, (long) appended));
				}
				long reached = this.ledger.advance();
				assertThat(reached).isGreaterThanOrEqualTo(watermark);
				for (; watermark < reached; watermark++) {
					assertThat(this.settled.get((int) watermark)).isOne();
				}
				if (watermark < this.records && (this.ledger.isFull() || appended == this.records)) {
					assertThat(this.told.tryAcquire(20, TimeUnit.SECONDS))
						.as("told that the head was settled, watermark %s", watermark)
						.isTrue();
				}
			}
			this.settlers.forEach((settler) -> this.delivered.add(-1L));
			for (Thread settler : this.settlers) {
				settler.join(20_000);
				assertThat(settler.isAlive()).isFalse();
			}
			assertThat(this.ledger.tracked()).isZero();
			assertThat(this.ledger.settled()).isZero();
			assertThat(this.ledger.settledAboveWatermark()).isEqualTo(OffsetRanges.EMPTY);
		}

		/** Holds back a few records and settles them in random order. */
		private void settle(SplittableRandom random) {
			List<Long> held = new ArrayList<>();
			try {
				while (true) {
					Long sequence = held.isEmpty() ? this.delivered.take() : this.delivered.poll();
					if (sequence != null && sequence < 0) {
						break;
					}
					if (sequence != null) {
						held.add(sequence);
					}
					if (sequence == null || held.size() > random.nextInt(8)) {
						settle(held.remove(random.nextInt(held.size())));
					}
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			held.forEach(this::settle);
		}

		private void settle(long sequence) {
			this.settled.set((int) sequence, 1);
			this.ledger.settle(sequence);
			if (this.ledger.isHead(sequence)) {
				this.told.release();
			}
		}

	}

}
