package io.queuestarter.benchmarks;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;

/**
 * The races that the comment of {@link PartitionLedger} argues about, on the memory of
 * this machine. Two actors each, since jcstress runs a test only where every actor has a
 * processor.
 */
public final class LedgerRaces {

	private LedgerRaces() {
	}

	private static PartitionLedger<Long> ledger(long first, int records) {
		PartitionLedger<Long> ledger = new PartitionLedger<>(4, 0, OffsetRanges.EMPTY);
		for (long offset = 0; offset < first; offset++) {
			ledger.appendSettled(offset);
			ledger.advance();
		}
		for (long offset = first; offset < first + records; offset++) {
			ledger.append(offset, offset);
		}
		return ledger;
	}

	/**
	 * The head moves on to a record that is just being settled: who settles it sees that
	 * it holds the head, or the consumer thread sees that it is settled.
	 */
	@JCStressTest
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The settling thread tells the consumer thread")
	@Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "The consumer thread sees it by itself")
	@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Both")
	@Outcome(id = "false, false", expect = Expect.FORBIDDEN, desc = "Nobody moves the watermark on")
	@State
	public static class NewHeadIsSeenByOneOfTheTwo {

		private final PartitionLedger<Long> ledger = ledger(0, 2);

		/**
		 * The record in front is settled, and not yet passed.
		 */
		public NewHeadIsSeenByOneOfTheTwo() {
			this.ledger.settle(0);
		}

		/**
		 * Settles the second record.
		 * @param result whether it was told, first
		 */
		@Actor
		public void settle(ZZ_Result result) {
			this.ledger.settle(1);
			result.r1 = this.ledger.isHead(1);
		}

		/**
		 * Moves on.
		 * @param result whether the second record was passed, second
		 */
		@Actor
		public void advance(ZZ_Result result) {
			result.r2 = this.ledger.advance() == 2;
		}

	}

	/**
	 * Two records of one word are settled at one time.
	 */
	@JCStressTest
	@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "Both are settled, and the word is clean")
	@Outcome(expect = Expect.FORBIDDEN, desc = "A settlement is lost")
	@State
	public static class TwoSettlementsInOneWord {

		private final PartitionLedger<Long> ledger = ledger(0, 2);

		/** Settles the first. */
		@Actor
		public void first() {
			this.ledger.settle(0);
		}

		/** Settles the second. */
		@Actor
		public void second() {
			this.ledger.settle(1);
		}

		/**
		 * What is seen in the end.
		 * @param result watermark and settled records above it
		 */
		@Arbiter
		public void arbiter(JJ_Result result) {
			result.r1 = this.ledger.advance();
			result.r2 = this.ledger.settled();
		}

	}

	/**
	 * The head leaves a word of bits, which is cleared, while the last record of that
	 * word and the first of the next one are settled.
	 */
	@JCStressTest
	@Outcome(id = "65, 0", expect = Expect.ACCEPTABLE, desc = "All are settled, and the words are clean")
	@Outcome(expect = Expect.FORBIDDEN, desc = "A settlement is lost, or a bit is left behind")
	@State
	public static class WordIsClearedBetweenSettlements {

		private final PartitionLedger<Long> ledger = ledger(62, 3);

		/** Settles the last record of the word and the first of the next one. */
		@Actor
		public void settle() {
			this.ledger.settle(63);
			this.ledger.settle(64);
		}

		/** Settles what holds the head, and moves on. */
		@Actor
		public void advance() {
			this.ledger.settle(62);
			this.ledger.advance();
		}

		/**
		 * What is seen in the end.
		 * @param result watermark and settled records above it
		 */
		@Arbiter
		public void arbiter(JJ_Result result) {
			result.r1 = this.ledger.advance();
			result.r2 = this.ledger.settled();
		}

	}

	/**
	 * Who sees a record settled finds its entry let go.
	 */
	@JCStressTest
	@Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "Not settled yet")
	@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "Let go, and about to be settled")
	@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "Settled")
	@Outcome(id = "true, true", expect = Expect.FORBIDDEN, desc = "A settled record is still held")
	@State
	public static class EntryIsLetGoBeforeTheBitIsSet {

		private final PartitionLedger<Long> ledger = ledger(0, 2);

		/** Settles the second. */
		@Actor
		public void settle() {
			this.ledger.settle(1);
		}

		/**
		 * Looks at the bit, then at the entry.
		 * @param result whether it is settled, and whether it is held
		 */
		@Actor
		public void look(ZZ_Result result) {
			result.r1 = !this.ledger.settledAboveWatermark().isEmpty();
			this.ledger.forEachOutstanding((offset) -> result.r2 |= offset == 1);
		}

	}

}
