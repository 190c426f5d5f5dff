package io.queuestarter.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the ledger step by step with a sorted map of offsets.
 */
class PartitionLedgerModelTests {

	private static final int STEPS = Effort.of(200_000, 20_000_000);

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 7, 64, 100, 129, 256, 257, 1000 })
	void agreesWithANaiveModel(int window) {
		SplittableRandom random = Seeds.random("PartitionLedgerModelTests, window " + window);
		int step = 0;
		while (step < STEPS) {
			Model model = new Model(window, random);
			int end = Math.min(STEPS, step + 1000 + random.nextInt(50_000));
			for (; step < end; step++) {
				model.step();
			}
			model.checkSnapshot();
		}
	}

	private static final class Model {

		private final SplittableRandom random;

		private final int window;

		private final TreeSet<Long> restored = new TreeSet<>();

		private final PartitionLedger<Long> ledger;

		/** Tracked offsets, and whether they are settled. */
		private final TreeMap<Long, Boolean> tracked = new TreeMap<>();

		/** Pairs of sequence and offset that are not settled. */
		private final ArrayList<long[]> open = new ArrayList<>();

		private long next;

		private int settled;

		/** Appends per hundred appends and settles; changes now and then. */
		private int appetite = 50;

		Model(int window, SplittableRandom random) {
			this.window = window;
			this.random = random;
			this.next = random.nextInt(1000);
			OffsetRanges.Builder ranges = new OffsetRanges.Builder();
			long offset = this.next + random.nextInt(3);
			for (int i = random.nextInt(50); i > 0; i--) {
				long last = offset + random.nextInt(5);
				ranges.add(offset, last);
				for (; offset <= last; offset++) {
					this.restored.add(offset);
				}
				offset += 1 + random.nextInt(10);
			}
			this.ledger = new PartitionLedger<>(window, this.next, ranges.build());
		}

		void step() {
			int choice = this.random.nextInt(100);
			if (choice < 75) {
				if (this.random.nextInt(100) < this.appetite) {
					append();
				}
				else {
					settle();
				}
			}
			else if (choice < 95) {
				advance();
			}
			else if (choice < 98) {
				follow();
			}
			else {
				this.appetite = 20 + this.random.nextInt(70);
			}
			check();
			if (this.random.nextInt(1 + 2 * this.window) == 0) {
				checkSnapshot();
			}
		}

		private void append() {
			assertThat(this.ledger.isFull()).isEqualTo(this.tracked.size() == this.window);
			if (this.tracked.size() == this.window) {
				return;
			}
			long offset = this.next + gap();
			boolean restoredBefore = this.restored.contains(offset);
			assertThat(this.ledger.isRestored(offset)).isEqualTo(restoredBefore);
			if (restoredBefore) {
				this.ledger.appendSettled(offset);
				this.settled++;
			}
			else {
				this.open.add(new long[] { this.ledger.append(offset, offset), offset });
			}
			this.tracked.put(offset, restoredBefore);
			this.next = offset + 1;
		}

		private int gap() {
			int kind = this.random.nextInt(100);
			if (kind < 80) {
				return 0;
			}
			return (kind < 99) ? this.random.nextInt(4) : this.random.nextInt(60);
		}

		private void settle() {
			if (this.open.isEmpty()) {
				return;
			}
			int index = (this.random.nextInt(4) == 0) ? 0 : this.random.nextInt(this.open.size());
			long[] record = this.open.remove(index);
			this.ledger.settle(record[0]);
			this.tracked.put(record[1], true);
			this.settled++;
		}

		private void advance() {
			while (!this.tracked.isEmpty() && this.tracked.firstEntry().getValue()) {
				this.tracked.pollFirstEntry();
				this.settled--;
			}
			assertThat(this.ledger.advance()).isEqualTo(watermark());
		}

		private void follow() {
			long position = this.next + this.random.nextInt(6) - 2;
			this.ledger.follow(position);
			if (this.tracked.isEmpty()) {
				this.next = Math.max(this.next, position);
			}
		}

		private long watermark() {
			return this.tracked.isEmpty() ? this.next : this.tracked.firstKey();
		}

		private @Nullable Long head() {
			return (this.tracked.isEmpty() || this.tracked.firstEntry().getValue()) ? null : this.tracked.firstKey();
		}

		private void check() {
			if (this.ledger.watermark() != watermark() || this.ledger.next() != this.next
					|| this.ledger.tracked() != this.tracked.size()) {
				assertThat(this.ledger.watermark()).as("watermark").isEqualTo(watermark());
				assertThat(this.ledger.next()).as("next").isEqualTo(this.next);
				assertThat(this.ledger.tracked()).as("tracked").isEqualTo(this.tracked.size());
			}
		}

		void checkSnapshot() {
			assertThat(this.ledger.settled()).as("settled").isEqualTo(this.settled);
			assertThat(this.ledger.head()).as("head").isEqualTo(head());
			assertThat(settledAboveWatermark()).as("settled above").isEqualTo(expand(this.ledger));
			List<Long> outstanding = new ArrayList<>();
			this.ledger.forEachOutstanding(outstanding::add);
			assertThat(outstanding).as("outstanding")
				.isEqualTo(this.tracked.entrySet()
					.stream()
					.filter((entry) -> !entry.getValue())
					.map((entry) -> entry.getKey())
					.toList());
		}

		private List<Long> settledAboveWatermark() {
			TreeSet<Long> offsets = new TreeSet<>();
			long previous = watermark() - 1;
			for (var entry : this.tracked.entrySet()) {
				for (long offset = previous + 1; entry.getValue() && offset <= entry.getKey(); offset++) {
					offsets.add(offset);
				}
				previous = entry.getKey();
			}
			offsets.addAll(this.restored.tailSet(watermark()));
			return List.copyOf(offsets);
		}

		private static List<Long> expand(PartitionLedger<Long> ledger) {
			OffsetRanges ranges = ledger.settledAboveWatermark();
			List<Long> offsets = new ArrayList<>();
			for (int range = 0; range < ranges.size(); range++) {
				for (long offset = ranges.first(range); offset <= ranges.last(range); offset++) {
					offsets.add(offset);
				}
			}
			return offsets;
		}

	}

}
