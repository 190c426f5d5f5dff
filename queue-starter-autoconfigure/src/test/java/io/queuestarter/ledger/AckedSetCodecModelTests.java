package io.queuestarter.ledger;

import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;

import org.junit.jupiter.api.Test;

import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random sets of offsets at random watermarks go through the commit metadata and come
 * back, whole or as far as they fit; a damaged text is no other set.
 */
class AckedSetCodecModelTests {

	private static final int SETS = Effort.of(4_000, 400_000);

	private final AckedSetCodec codec = new AckedSetCodec();

	private final SplittableRandom random = Seeds.random("AckedSetCodecModelTests");

	@Test
	void setComesBackUpToWhereItWasCutOff() {
		int truncated = 0;
		for (int round = 0; round < SETS; round++) {
			long watermark = this.random.nextLong(1L << this.random.nextInt(1, 62));
			TreeSet<Long> settled = offsets(watermark, 1 << this.random.nextInt(16));

			String text = encode(watermark, ranges(settled));

			assertThat(text.length()).isLessThanOrEqualTo(AckedSetCodec.MAX_LENGTH);
			OffsetRanges decoded = decode(watermark, text).orElseThrow();
			OffsetRanges expected = decoded.isEmpty() ? OffsetRanges.EMPTY
					: ranges(settled.headSet(decoded.last(decoded.size() - 1), true));
			assertThat(decoded).isEqualTo(expected);
			if (decoded.count() < settled.size()) {
				truncated++;
				assertThat(text.length()).as("length of what was cut off").isGreaterThan(AckedSetCodec.MAX_LENGTH - 50);
			}
		}
		assertThat(truncated).isPositive();
	}

	@Test
	void textDamagedAtAnyPositionIsIgnoredOrTheSameSet() {
		for (int round = 0; round < SETS / 100; round++) {
			long watermark = this.random.nextLong(1L << 40);
			OffsetRanges settled = ranges(offsets(watermark, 300));
			String text = encode(watermark, settled);
			for (int at = 0; at < text.length(); at++) {
				for (String damaged : damaged(text, at)) {
					// What has become empty is as good as no metadata.
					decode(watermark, damaged).ifPresent((decoded) -> assertThat(decoded).as("%s of %s", damaged, text)
						.isIn(settled, OffsetRanges.EMPTY));
				}
			}
			long other = watermark + this.random.nextLong(-1_000, 1_000);
			if (other != watermark && !text.isEmpty()) {
				assertThat(decode(other, text)).as("%s at %s instead of %s", text, other, watermark).isEmpty();
			}
		}
	}

	private String[] damaged(String text, int at) {
		String before = text.substring(0, at);
		String after = text.substring(at + 1);
		char any = (char) this.random.nextInt(0x21, 0x7F);
		return new String[] { before + any + after, before + after, before, before + any + text.substring(at),
				text.substring(at), before + (char) (text.charAt(at) ^ (1 << this.random.nextInt(7))) + after };
	}

	/** Single offsets or long runs, dense or far apart; now and then none. */
	private TreeSet<Long> offsets(long watermark, int most) {
		TreeSet<Long> offsets = new TreeSet<>();
		int longest = 1 << this.random.nextInt(8);
		int widest = 1 << this.random.nextInt(12);
		long offset = watermark + this.random.nextInt(widest);
		for (int count = this.random.nextInt(most); count > 0;) {
			int run = Math.min(count, 1 + this.random.nextInt(longest));
			for (int i = 0; i < run; i++) {
				offsets.add(offset++);
			}
			count -= run;
			offset += 1 + this.random.nextInt(widest);
		}
		return offsets;
	}

	private static OffsetRanges ranges(Iterable<Long> offsets) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		offsets.forEach((offset) -> ranges.add(offset, offset));
		return ranges.build();
	}

	private String encode(long watermark, OffsetRanges settled) {
		return this.codec.encode(watermark, new AckedSet(settled, 0)).text();
	}

	private static Optional<OffsetRanges> decode(long watermark, String text) {
		return AckedSetCodec.decode(watermark, text).map(AckedSet::settled);
	}

}
