package io.queuestarter.benchmarks;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;

import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;

/**
 * What the steps of a record through the ledger cost: to append it, to settle it, alone
 * and when two threads settle records that lie side by side, and to move the watermark
 * over it. Each iteration takes one window, which is made ready before; what is allocated
 * counts that, too. Good is less than 50 ns, and no byte but those of append.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
@Fork(1)
public class LedgerStepsBenchmark {

	private static final int WINDOW = 1_000_000;

	private static final Object ENTRY = new Object();

	private PartitionLedger<Object> empty = newLedger();

	private PartitionLedger<Object> filled = newLedger();

	private PartitionLedger<Object> settled = newLedger();

	private long first;

	private static PartitionLedger<Object> newLedger() {
		return new PartitionLedger<>(WINDOW, 0, OffsetRanges.EMPTY);
	}

	/**
	 * Makes one window ready for each step.
	 */
	@Setup(Level.Iteration)
	public void fill() {
		this.empty = newLedger();
		this.filled = newLedger();
		this.first = fill(this.filled);
		this.settled = newLedger();
		long start = fill(this.settled);
		for (long sequence = start; sequence < start + WINDOW; sequence++) {
			this.settled.settle(sequence);
		}
	}

	private static long fill(PartitionLedger<Object> ledger) {
		long start = ledger.append(0, ENTRY);
		for (int i = 1; i < WINDOW; i++) {
			ledger.append(i, ENTRY);
		}
		return start;
	}

	/**
	 * Appends.
	 * @return sequence of the first record
	 */
	@Benchmark
	@OperationsPerInvocation(WINDOW)
	public long append() {
		return fill(this.empty);
	}

	/**
	 * Settles, by one thread.
	 */
	@Benchmark
	@OperationsPerInvocation(WINDOW)
	public void settle() {
		for (int i = 0; i < WINDOW; i++) {
			this.filled.settle(this.first + i);
		}
	}

	/**
	 * Settles, by two threads, every second record each.
	 * @param thread the thread
	 */
	@Benchmark
	@Threads(2)
	@OperationsPerInvocation(WINDOW / 2)
	public void settleByTwo(ThreadParams thread) {
		for (int i = thread.getThreadIndex(); i < WINDOW; i += 2) {
			this.filled.settle(this.first + i);
		}
	}

	/**
	 * Moves the watermark over the window.
	 * @return the watermark
	 */
	@Benchmark
	@OperationsPerInvocation(WINDOW)
	public long advance() {
		return this.settled.advance();
	}

}
