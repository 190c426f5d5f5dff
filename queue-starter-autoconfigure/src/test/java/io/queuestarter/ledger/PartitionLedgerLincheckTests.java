package io.queuestarter.ledger;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Interleavings;

/**
 * Several threads settle records while the consumer thread appends and advances: the
 * watermark is that of some order of the settlements, and the consumer thread is told
 * whenever it would otherwise sleep although the watermark can move.
 */
@Tag("lincheck")
class PartitionLedgerLincheckTests {

	@Test
	void noScheduleBreaksTheLedger() {
		Interleavings.explore(Operations.class);
	}

	@Test
	void ledgerStandsStress() {
		Interleavings.stress(Operations.class);
	}

	/**
	 * The records stand at the end of one word of bits and at the beginning of the next,
	 * so that settlements meet the clearing of a word.
	 */
	public static class Operations {

		private static final int FIRST = Long.SIZE - 2;

		private final PartitionLedger<Long> ledger = ledger();

		private final AtomicBoolean told = new AtomicBoolean();

		private static PartitionLedger<Long> ledger() {
			PartitionLedger<Long> ledger = new PartitionLedger<>(4, 0, OffsetRanges.EMPTY);
			for (int i = 0; i < FIRST; i++) {
				ledger.appendSettled(i);
				ledger.advance();
			}
			for (long offset = FIRST; offset < FIRST + 3; offset++) {
				ledger.append(offset, offset);
			}
			return ledger;
		}

		@Operation(nonParallelGroup = "consumer")
		public long append() {
			return this.ledger.isFull() ? -1 : this.ledger.append(this.ledger.next(), this.ledger.next());
		}

		@Operation(nonParallelGroup = "consumer")
		public long advance() {
			this.told.set(false);
			return this.ledger.advance();
		}

		/** A head that was just settled may be gone already. */
		@Operation(nonParallelGroup = "consumer")
		public boolean headIsTheWatermarkOrGone() {
			Long head = this.ledger.head();
			return head == null || head == this.ledger.watermark();
		}

		@Operation(runOnce = true)
		public void settleFirst() {
			settle(FIRST);
		}

		@Operation(runOnce = true)
		public void settleSecond() {
			settle(FIRST + 1);
		}

		@Operation(runOnce = true)
		public void settleThird() {
			settle(FIRST + 2);
		}

		private void settle(long sequence) {
			this.ledger.settle(sequence);
			if (this.ledger.isHead(sequence)) {
				this.told.set(true);
			}
		}

		@Validate
		public void watermarkThatCanMoveWasTold() {
			boolean isTold = this.told.get();
			long before = this.ledger.watermark();
			if (this.ledger.advance() != before && !isTold) {
				throw new IllegalStateException("Nobody was told that " + before + " is settled");
			}
		}

	}

}
