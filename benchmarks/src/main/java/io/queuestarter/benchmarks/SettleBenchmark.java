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
 * What it costs to settle a record: alone, and when two threads settle records that lie
 * side by side. Each iteration settles one window, which is filled before. Good is less
 * than 50 ns and no byte.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 20)
@Measurement(iterations = 20)
@Fork(1)
public class SettleBenchmark {

	private static final int WINDOW = 1_000_000;

	private static final Object ENTRY = new Object();

	private PartitionLedger<Object> ledger = new PartitionLedger<>(WINDOW, 0, OffsetRanges.EMPTY);

	private long first;

	/**
	 * Fills a window.
	 */
	@Setup(Level.Iteration)
	public void fill() {
		this.ledger = new PartitionLedger<>(WINDOW, 0, OffsetRanges.EMPTY);
		for (int i = 0; i < WINDOW; i++) {
			long sequence = this.ledger.append(i, ENTRY);
			this.first = (i == 0) ? sequence : this.first;
		}
	}

	/**
	 * One thread.
	 */
	@Benchmark
	@OperationsPerInvocation(WINDOW)
	public void settle() {
		for (int i = 0; i < WINDOW; i++) {
			this.ledger.settle(this.first + i);
		}
	}

	/**
	 * Two threads, every second record each.
	 * @param thread the thread
	 */
	@Benchmark
	@Threads(2)
	@OperationsPerInvocation(WINDOW / 2)
	public void settleByTwo(ThreadParams thread) {
		for (int i = thread.getThreadIndex(); i < WINDOW; i += 2) {
			this.ledger.settle(this.first + i);
		}
	}

}
