package io.queuestarter.ledger;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class PartitionLedgerTests {

	@Test
	void recordsSettledInOrderMoveTheWatermarkOneByOne() {
		PartitionLedger<String> ledger = ledger(3, 99);
		long[] sequences = append(ledger, 99, 100, 101);

		ledger.settle(sequences[0]);
		assertThat(ledger.advance()).isEqualTo(100);
		ledger.settle(sequences[1]);
		assertThat(ledger.advance()).isEqualTo(101);
		ledger.settle(sequences[2]);
		assertThat(ledger.advance()).isEqualTo(102);

		assertThat(ledger.tracked()).isZero();
	}

	@Test
	void recordsSettledOutOfOrderMoveTheWatermarkWhenTheGapCloses() {
		PartitionLedger<String> ledger = ledger(3, 99);
		long[] sequences = append(ledger, 99, 100, 101);

		ledger.settle(sequences[1]);
		assertThat(ledger.advance()).isEqualTo(99);
		ledger.settle(sequences[2]);
		assertThat(ledger.advance()).isEqualTo(99);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(100, 101));
		ledger.settle(sequences[0]);
		assertThat(ledger.advance()).isEqualTo(102);

		assertThat(ledger.tracked()).isZero();
		assertThat(ledger.settledAboveWatermark()).isEqualTo(OffsetRanges.EMPTY);
	}

	@Test
	void offsetsThatTheBrokerDoesNotDeliverSettleByThemselves() {
		PartitionLedger<String> ledger = ledger(3, 99);
		long[] sequences = append(ledger, 99, 110, 121);

		ledger.settle(sequences[1]);
		ledger.settle(sequences[2]);
		assertThat(ledger.advance()).isEqualTo(99);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(100, 121));
		ledger.settle(sequences[0]);

		assertThat(ledger.advance()).isEqualTo(122);
	}

	@Test
	void offsetInAGapIsRefused() {
		PartitionLedger<String> ledger = ledger(3, 99);
		append(ledger, 99, 102);

		assertThatIllegalStateException().isThrownBy(() -> ledger.append(100, "100"))
			.withMessage("Offset 100 is below the next expected 103");
		assertThat(ledger.tracked()).isEqualTo(2);
		assertThat(ledger.next()).isEqualTo(103);
	}

	@Test
	void settleOutsideTheWindowIsRefusedAndChangesNothing() {
		PartitionLedger<String> ledger = ledger(3, 99);
		assertThatIllegalStateException().isThrownBy(() -> ledger.settle(0));
		long[] sequences = append(ledger, 99, 100);
		ledger.settle(sequences[0]);
		ledger.advance();

		assertThatIllegalStateException().isThrownBy(() -> ledger.settle(sequences[1] + 1))
			.withMessage("Sequence 2 is not in the window");
		assertThatIllegalStateException().isThrownBy(() -> ledger.settle(sequences[0]));

		assertThat(ledger.advance()).isEqualTo(100);
		assertThat(ledger.settled()).isZero();
		assertThat(outstanding(ledger)).containsExactly("100");
	}

	@Test
	void settlingTwiceInsideTheWindowChangesNothing() {
		PartitionLedger<String> ledger = ledger(3, 99);
		long[] sequences = append(ledger, 99, 100, 101);

		ledger.settle(sequences[1]);
		ledger.settle(sequences[1]);

		assertThat(ledger.advance()).isEqualTo(99);
		assertThat(ledger.settled()).isOne();
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(100, 100));
	}

	@Test
	void fullWindowRefusesUntilTheHeadIsSettled() {
		PartitionLedger<String> ledger = ledger(3, 99);
		long[] sequences = append(ledger, 99, 100, 101);

		assertThat(ledger.isFull()).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> ledger.append(102, "102"))
			.withMessage("Window of 3 records is full at offset 102");
		ledger.settle(sequences[1]);
		ledger.advance();
		assertThat(ledger.isFull()).isTrue();
		ledger.settle(sequences[0]);
		ledger.advance();

		assertThat(ledger.isFull()).isFalse();
		append(ledger, 102);
		assertThat(ledger.tracked()).isEqualTo(2);
	}

	@Test
	void recordRefusedByAFullWindowLeavesNoTrace() {
		PartitionLedger<String> ledger = ledger(3, 99);
		long[] sequences = append(ledger, 99, 100, 101);
		assertThatIllegalStateException().isThrownBy(() -> ledger.append(102, "102"));

		for (long sequence : sequences) {
			ledger.settle(sequence);
		}

		assertThat(ledger.advance()).isEqualTo(102);
		assertThat(ledger.next()).isEqualTo(102);
	}

	@Test
	void gapsAtTheHeadAndBehindTheTailCountAsSettled() {
		PartitionLedger<String> ledger = ledger(10, 5);
		long[] sequences = append(ledger, 8, 9);
		assertThat(ledger.watermark()).isEqualTo(8);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(OffsetRanges.EMPTY);

		ledger.settle(sequences[0]);
		ledger.settle(sequences[1]);
		ledger.advance();
		ledger.follow(12);

		assertThat(ledger.watermark()).isEqualTo(12);
		assertThat(ledger.next()).isEqualTo(12);
	}

	@Test
	void headThatIsSettledButNotPassedIsPartOfTheSettledSet() {
		PartitionLedger<String> ledger = ledger(10, 0);
		long[] sequences = append(ledger, 0, 1, 2);

		ledger.settle(sequences[0]);

		assertThat(ledger.watermark()).isZero();
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(0, 0));
	}

	@Test
	void gapInFrontOfAnUnsettledRecordIsNotPartOfTheSettledSet() {
		PartitionLedger<String> ledger = ledger(10, 0);
		long[] sequences = append(ledger, 0, 1, 5, 8, 9);

		ledger.settle(sequences[1]);
		ledger.settle(sequences[3]);
		ledger.advance();

		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(1, 1, 6, 8));
	}

	@Test
	void followDoesNothingWhileARecordIsTracked() {
		PartitionLedger<String> ledger = ledger(10, 0);
		long[] sequences = append(ledger, 0);

		ledger.follow(7);
		assertThat(ledger.next()).isEqualTo(1);
		ledger.settle(sequences[0]);
		ledger.follow(7);
		assertThat(ledger.next()).isEqualTo(1);
		ledger.advance();
		ledger.follow(7);

		assertThat(ledger.watermark()).isEqualTo(7);
	}

	@Test
	void followNeverGoesBack() {
		PartitionLedger<String> ledger = ledger(10, 5);

		ledger.follow(3);
		ledger.follow(-1);

		assertThat(ledger.watermark()).isEqualTo(5);
		assertThat(ledger.next()).isEqualTo(5);
	}

	@Test
	void unknownStartTakesTheFirstOffsetAsWatermark() {
		PartitionLedger<String> ledger = ledger(10, -1);
		assertThat(ledger.advance()).isEqualTo(-1);

		long[] sequences = append(ledger, 100, 101);

		assertThat(ledger.watermark()).isEqualTo(100);
		ledger.settle(sequences[1]);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(101, 101));
	}

	@Test
	void settleLetsGoOfTheEntryAtOnce() {
		PartitionLedger<String> ledger = ledger(10, 0);
		long[] sequences = append(ledger, 0, 1, 2);

		ledger.settle(sequences[1]);
		assertThat(outstanding(ledger)).containsExactly("0", "2");
		assertThat(ledger.head()).isEqualTo("0");
		ledger.settle(sequences[0]);
		assertThat(ledger.head()).isNull();
		ledger.advance();

		assertThat(ledger.head()).isEqualTo("2");
		assertThat(outstanding(ledger)).containsExactly("2");
	}

	@Test
	void emptyLedgerHasNoHead() {
		PartitionLedger<String> ledger = ledger(10, 0);
		assertThat(ledger.head()).isNull();
		assertThat(outstanding(ledger)).isEmpty();

		ledger.settle(append(ledger, 0)[0]);
		ledger.advance();

		assertThat(ledger.head()).isNull();
		assertThat(outstanding(ledger)).isEmpty();
	}

	@Test
	void isHeadFollowsTheHead() {
		PartitionLedger<String> ledger = ledger(10, 0);
		long[] sequences = append(ledger, 0, 1);
		assertThat(ledger.isHead(sequences[0])).isTrue();
		assertThat(ledger.isHead(sequences[1])).isFalse();

		ledger.settle(sequences[0]);
		assertThat(ledger.isHead(sequences[0])).isTrue();
		ledger.advance();

		assertThat(ledger.isHead(sequences[0])).isFalse();
		assertThat(ledger.isHead(sequences[1])).isTrue();
	}

	@Test
	void recordAppendedAsSettledIsPassed() {
		PartitionLedger<String> ledger = ledger(10, 0);
		long[] sequences = append(ledger, 0);

		ledger.appendSettled(1);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(1, 1));
		assertThat(outstanding(ledger)).containsExactly("0");
		ledger.settle(sequences[0]);

		assertThat(ledger.advance()).isEqualTo(2);
	}

	@Test
	void restoredOffsetsAreCarriedUntilTheyAreDeliveredAgain() {
		PartitionLedger<String> ledger = new PartitionLedger<>(10, 5, ranges(6, 7, 9, 9, 20, 22));
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(6, 7, 9, 9, 20, 22));
		assertThat(ledger.isRestored(5)).isFalse();
		assertThat(ledger.isRestored(6)).isTrue();

		long[] sequences = append(ledger, 5);
		ledger.appendSettled(6);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(6, 7, 9, 9, 20, 22));
		ledger.appendSettled(7);
		append(ledger, 8);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(6, 7, 9, 9, 20, 22));
		ledger.appendSettled(9);
		ledger.settle(sequences[0]);

		assertThat(ledger.advance()).isEqualTo(8);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(9, 9, 20, 22));
	}

	@Test
	void restoredOffsetsThatAreNotDeliveredAgainAreCarriedUntilTheWatermarkPassesThem() {
		PartitionLedger<String> ledger = new PartitionLedger<>(10, 5, ranges(6, 7, 9, 9, 12, 14));

		long[] sequences = append(ledger, 5, 8, 9, 11, 13, 16);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(6, 7, 12, 12, 14, 14));
		ledger.settle(sequences[1]);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(6, 8, 12, 12, 14, 14));
		ledger.settle(sequences[0]);
		ledger.settle(sequences[2]);
		ledger.settle(sequences[3]);

		assertThat(ledger.advance()).isEqualTo(13);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(14, 14));
	}

	@Test
	void restoredOffsetsThatThePartitionHasPassedAreForgotten() {
		PartitionLedger<String> ledger = new PartitionLedger<>(10, 5, ranges(6, 7, 9, 12));

		ledger.follow(11);

		assertThat(ledger.watermark()).isEqualTo(11);
		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(11, 12));
	}

	@Test
	void restoredRangeThatTouchesTheWindowIsJoined() {
		PartitionLedger<String> ledger = new PartitionLedger<>(10, 5, ranges(7, 9));
		long[] sequences = append(ledger, 5, 6);

		ledger.settle(sequences[1]);

		assertThat(ledger.settledAboveWatermark()).isEqualTo(ranges(6, 9));
	}

	@Test
	void settledAndTrackedCountTheWindow() {
		PartitionLedger<String> ledger = ledger(200, 0);
		long[] sequences = new long[150];
		for (int i = 0; i < sequences.length; i++) {
			sequences[i] = ledger.append(i, "" + i);
		}

		for (int i = 0; i < 70; i++) {
			ledger.settle(sequences[i]);
		}
		for (int i = 100; i < 130; i++) {
			ledger.settle(sequences[i]);
		}
		assertThat(ledger.settled()).isEqualTo(100);
		assertThat(ledger.tracked()).isEqualTo(150);
		ledger.advance();

		assertThat(ledger.settled()).isEqualTo(30);
		assertThat(ledger.tracked()).isEqualTo(80);
		assertThat(ledger.window()).isEqualTo(200);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 63, 64, 65, 127, 128, 129, 1000 })
	void windowOfAnySizeWrapsManyTimes(int window) {
		PartitionLedger<String> ledger = ledger(window, 0);
		long offset = 0;
		for (int round = 0; round < 50_000 / window + 10; round++) {
			List<Long> sequences = new ArrayList<>();
			long first = offset;
			while (!ledger.isFull()) {
				sequences.add(ledger.append(offset, "x"));
				offset += 2;
			}
			assertThat(sequences).hasSize(window);
			for (int i = window - 1; i > 0; i--) {
				ledger.settle(sequences.get(i));
			}

			assertThat(ledger.advance()).isEqualTo(first);
			assertThat(ledger.settled()).isEqualTo(window - 1);
			ledger.settle(sequences.get(0));
			assertThat(ledger.advance()).isEqualTo(offset - 1);
			assertThat(ledger.settled()).isZero();
		}
	}

	@Test
	void windowMustHoldARecord() {
		assertThatIllegalArgumentException().isThrownBy(() -> ledger(0, 0))
			.withMessage("'window' must be at least 1: 0");
	}

	private static PartitionLedger<String> ledger(int window, long watermark) {
		return new PartitionLedger<>(window, watermark, OffsetRanges.EMPTY);
	}

	private static long[] append(PartitionLedger<String> ledger, long... offsets) {
		long[] sequences = new long[offsets.length];
		for (int i = 0; i < offsets.length; i++) {
			sequences[i] = ledger.append(offsets[i], "" + offsets[i]);
		}
		return sequences;
	}

	private static List<String> outstanding(PartitionLedger<String> ledger) {
		List<String> entries = new ArrayList<>();
		ledger.forEachOutstanding(entries::add);
		return entries;
	}

	private static OffsetRanges ranges(long... bounds) {
		return OffsetRangesTests.ranges(bounds);
	}

}
