package io.queuestarter.ledger;

import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class OffsetRangesTests {

	@Test
	void emptySetHoldsNothing() {
		OffsetRanges ranges = new OffsetRanges.Builder().build();

		assertThat(ranges).isSameAs(OffsetRanges.EMPTY);
		assertThat(ranges.isEmpty()).isTrue();
		assertThat(ranges.count()).isZero();
		assertThat(ranges.contains(0)).isFalse();
		assertThat(ranges).hasToString("[]");
	}

	@Test
	void rangesThatTouchAreJoined() {
		OffsetRanges ranges = ranges(3, 4, 5, 5, 6, 9, 11, 11);

		assertThat(ranges).isEqualTo(ranges(3, 9, 11, 11)).hasToString("[3-9, 11-11]");
		assertThat(ranges.size()).isEqualTo(2);
		assertThat(ranges.first(0)).isEqualTo(3);
		assertThat(ranges.last(0)).isEqualTo(9);
		assertThat(ranges.count()).isEqualTo(8);
	}

	@Test
	void containsKnowsTheBoundsOfEachRange() {
		OffsetRanges ranges = ranges(3, 5, 8, 8, 1L << 62, (1L << 62) + 1);

		assertThat(List.of(3L, 5L, 8L, 1L << 62, (1L << 62) + 1)).allMatch(ranges::contains);
		assertThat(List.of(2L, 6L, 7L, 9L, (1L << 62) - 1, (1L << 62) + 2, -1L)).noneMatch(ranges::contains);
	}

	@Test
	void rangesMustAscend() {
		OffsetRanges.Builder builder = new OffsetRanges.Builder();
		builder.add(5, 7);

		assertThatIllegalArgumentException().isThrownBy(() -> builder.add(7, 9));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.add(3, 4));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.add(9, 8));
		assertThat(builder.build()).isEqualTo(ranges(5, 7));
	}

	@Test
	void setDoesNotChangeWhenItsBuilderGoesOn() {
		OffsetRanges.Builder builder = new OffsetRanges.Builder();
		builder.add(5, 7);
		OffsetRanges before = builder.build();

		builder.add(8, 9);

		assertThat(before).isEqualTo(ranges(5, 7));
		assertThat(builder.build()).isEqualTo(ranges(5, 9));
	}

	@Test
	void addAllFromCutsTheRangeThatBeginsBelow() {
		OffsetRanges.Builder builder = new OffsetRanges.Builder();
		builder.add(1, 1);

		builder.addAllFrom(ranges(2, 3, 5, 8, 10, 11), 6);

		assertThat(builder.build()).isEqualTo(ranges(1, 1, 6, 8, 10, 11));
	}

	@Test
	void equalSetsHaveEqualHashes() {
		assertThat(ranges(1, 2, 3, 4)).isEqualTo(ranges(1, 4)).hasSameHashCodeAs(ranges(1, 4));
		assertThat(ranges(1, 2)).isNotEqualTo(ranges(1, 3)).isNotEqualTo(OffsetRanges.EMPTY);
	}

	@Test
	void agreesWithANaiveSet() {
		SplittableRandom random = Seeds.random("OffsetRangesTests");
		for (int round = 0; round < 200; round++) {
			TreeSet<Long> naive = new TreeSet<>();
			OffsetRanges.Builder builder = new OffsetRanges.Builder();
			long offset = random.nextInt(10);
			for (int i = random.nextInt(100); i > 0; i--) {
				long last = offset + random.nextInt(4);
				builder.add(offset, last);
				for (; offset <= last; offset++) {
					naive.add(offset);
				}
				offset += random.nextInt(3);
			}

			OffsetRanges ranges = builder.build();

			assertThat(ranges.count()).isEqualTo(naive.size());
			for (long each = -1; each <= offset; each++) {
				assertThat(ranges.contains(each)).isEqualTo(naive.contains(each));
			}
			for (int range = 1; range < ranges.size(); range++) {
				assertThat(ranges.first(range)).isGreaterThan(ranges.last(range - 1) + 1);
			}
		}
	}

	static OffsetRanges ranges(long... bounds) {
		OffsetRanges.Builder builder = new OffsetRanges.Builder();
		for (int i = 0; i < bounds.length; i += 2) {
			builder.add(bounds[i], bounds[i + 1]);
		}
		return builder.build();
	}

}
