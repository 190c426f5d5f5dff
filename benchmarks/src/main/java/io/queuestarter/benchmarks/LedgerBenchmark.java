package io.queuestarter.benchmarks;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;

/**
 * What the ledger adds to each record: append, settle and advance over a full window, in
 * order; and what a commit adds, encoding a window of which every second record is
 * settled. Good is tens of nanoseconds a record, and less than 100 µs a commit.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LedgerBenchmark {

	private static final int WINDOW = 10_000;

	private static final Object ENTRY = new Object();

	private final PartitionLedger<Object> half = new PartitionLedger<>(WINDOW, 0, OffsetRanges.EMPTY);

	private final AckedSetCodec codec = new AckedSetCodec();

	private PartitionLedger<Object> ledger = new PartitionLedger<>(WINDOW, 0, OffsetRanges.EMPTY);

	private long offset;

	/**
	 * Fills one window for the encoder.
	 */
	@Setup
	public void fillHalf() {
		for (int i = 0; i < WINDOW; i++) {
			long sequence = this.half.append(i, ENTRY);
			if (i % 2 == 1) {
				this.half.settle(sequence);
			}
		}
	}

	/**
	 * A record's whole way through the ledger.
	 * @return the watermark
	 */
	@Benchmark
	@OperationsPerInvocation(WINDOW)
	public long appendSettleAdvance() {
		long first = 0;
		for (int i = 0; i < WINDOW; i++) {
			long sequence = this.ledger.append(this.offset++, ENTRY);
			first = (i == 0) ? sequence : first;
		}
		for (long sequence = first; sequence < first + WINDOW; sequence++) {
			this.ledger.settle(sequence);
		}
		return this.ledger.advance();
	}

	/**
	 * The content of one commit in the worst case: the two encodings are equally long.
	 * @return the commit metadata
	 */
	@Benchmark
	public String encodeEverySecond() {
		return this.codec.encode(this.half, WINDOW).text();
	}

}
