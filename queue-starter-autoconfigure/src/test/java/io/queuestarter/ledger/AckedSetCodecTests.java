package io.queuestarter.ledger;

import java.util.Base64;
import java.util.Optional;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.queuestarter.ledger.AckedSetCodec.Encoded;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

class AckedSetCodecTests {

	/** One for all, so that what an earlier text left in its buffers would show. */
	private final AckedSetCodec codec = new AckedSetCodec();

	@Test
	void emptySetIsAnEmptyText() {
		Encoded encoded = encode(5, OffsetRanges.EMPTY);

		assertThat(encoded.text()).isEmpty();
		assertThat(encoded.truncated()).isFalse();
		assertThat(decode(5, "")).contains(OffsetRanges.EMPTY);
	}

	@Test
	void singleOffsetComesBack() {
		assertComesBack(5, ranges(6, 6));
	}

	@Test
	void watermarkMayBePartOfTheSet() {
		assertComesBack(5, ranges(5, 5));
		assertComesBack(0, ranges(0, 100, 102, 102));
	}

	@Test
	void hugeOffsetsComeBack() {
		long watermark = (1L << 62) - 3;

		assertComesBack(watermark, ranges(watermark + 1, watermark + 5, watermark + 9, watermark + 9));
	}

	@Test
	void hugeGapsAndRangesComeBack() {
		assertComesBack(0, ranges(1L << 40, 1L << 41, 1L << 61, 1L << 62));
		assertComesBack(7, ranges(8, 8, 1L << 62, 1L << 62));
	}

	@Test
	void everySecondOfTenThousandFits() {
		OffsetRanges.Builder settled = new OffsetRanges.Builder();
		for (long offset = 1; offset < 10_000; offset += 2) {
			settled.add(offset, offset);
		}

		assertComesBack(0, settled.build());
	}

	@Test
	void everySecondOfTenThousandInTransactionsOfOneFits() {
		OffsetRanges.Builder settled = new OffsetRanges.Builder();
		for (long offset = 2; offset < 20_000; offset += 4) {
			settled.add(offset - 1, offset);
		}

		assertComesBack(0, settled.build());
	}

	@Test
	void randomSetsComeBack() {
		SplittableRandom random = Seeds.random("AckedSetCodecTests");
		for (int round = 0; round < 3_000; round++) {
			long watermark = random.nextLong(1L << random.nextInt(1, 62));

			OffsetRanges settled = randomRanges(random, watermark, 10_000);
			assertComesBack(watermark, settled);
		}
	}

	@Test
	void whatDoesNotFitIsCutOffAtTheFarEndAndFlagged() {
		SplittableRandom random = Seeds.random("AckedSetCodecTests");
		int truncated = 0;
		for (int round = 0; round < 500; round++) {
			long watermark = random.nextLong(1L << 40);
			OffsetRanges settled = randomRanges(random, watermark, 200_000);

			Encoded encoded = encode(watermark, settled);

			assertThat(encoded.text()).hasSizeLessThanOrEqualTo(AckedSetCodec.MAX_LENGTH);
			OffsetRanges decoded = decode(watermark, encoded.text()).orElseThrow();
			assertThat(encoded.truncated()).isEqualTo(!decoded.equals(settled));
			assertThat(decoded).isEqualTo(upTo(settled, decoded.last(decoded.size() - 1)));
			truncated += encoded.truncated() ? 1 : 0;
		}
		assertThat(truncated).isPositive();
	}

	@Test
	void setFarBeyondTheBitmapKeepsWhatIsNear() {
		OffsetRanges.Builder settled = new OffsetRanges.Builder();
		for (long offset = 1_000_000; offset < 3_000_000; offset += 2) {
			settled.add(offset, offset);
		}

		Encoded encoded = encode(0, settled.build());

		assertThat(encoded.truncated()).isTrue();
		assertThat(encoded.text()).hasSizeLessThanOrEqualTo(AckedSetCodec.MAX_LENGTH);
		OffsetRanges decoded = decode(0, encoded.text()).orElseThrow();
		assertThat(decoded.first(0)).isEqualTo(1_000_000);
		assertThat(decoded.count()).isGreaterThan(1_000);
	}

	@Test
	void equalSetsHaveEqualTexts() {
		SplittableRandom random = Seeds.random("AckedSetCodecTests");
		OffsetRanges settled = randomRanges(random, 100, 10_000);
		String text = encode(100, settled).text();

		OffsetRanges decoded = decode(100, text).orElseThrow();

		assertThat(encode(100, decoded).text()).isEqualTo(text);
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "hello", "\u0001", " ", "qs", "qs2", "qs2r", "qs2b", "qs2rA", "qs2x0123", "qs2r=", "qs2r!!!!",
					"qs3rAAAAAAAA", "qs20AAAAAAAA", "qs2r\u2713\u2713\u2713\u2713", "QS2rAAAAAAAA", "{\"offset\":5}" })
	void foreignTextIsNotASet(String text) {
		assertThat(decode(5, text)).isEmpty();
	}

	@Test
	void textOfANewerVersionIsNotASet() {
		String text = encode(5, ranges(6, 9)).text();

		assertThat(decode(5, "qs3" + text.substring(3))).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "qs1r8ZFpAwEB", "qs1bPTrhNgE" })
	void textOfTheFirstVersionIsNotASet(String text) {
		for (long watermark = 0; watermark < 100; watermark++) {
			assertThat(AckedSetCodec.decode(watermark, text)).isEmpty();
		}
	}

	@Test
	void textWrittenForAnotherWatermarkIsNotASet() {
		String text = encode(1000, ranges(1001, 1009)).text();

		assertThat(decode(500, text)).isEmpty();
		assertThat(decode(-1, text)).isEmpty();
	}

	@Test
	void damagedTextIsNeverAnotherSet() {
		SplittableRandom random = Seeds.random("AckedSetCodecTests");
		int refused = 0;
		for (int round = 0; round < 20_000; round++) {
			long watermark = random.nextLong(1L << 40);
			OffsetRanges settled = randomRanges(random, watermark, 500);
			String text = encode(watermark, settled).text();

			String damaged = damage(random, text);

			// What has become empty is as good as no metadata.
			decode(watermark, damaged).ifPresent((decoded) -> assertThat(decoded).isIn(settled, OffsetRanges.EMPTY));
			refused += decode(watermark, damaged).isEmpty() ? 1 : 0;
		}
		assertThat(refused).isGreaterThan(10_000);
	}

	@Test
	void randomTextIsNeverASetAndNeverThrows() {
		SplittableRandom random = Seeds.random("AckedSetCodecTests");
		for (int round = 0; round < 50_000; round++) {
			StringBuilder text = new StringBuilder(random.nextBoolean() ? "qs2r" : "qs2b");
			if (random.nextInt(4) == 0) {
				text.setLength(random.nextInt(4));
			}
			text.append((char) random.nextInt(0x21, 0x7F));
			for (int i = random.nextInt(100); i > 0; i--) {
				text.append(random.nextBoolean() ? (char) random.nextInt(0x10000) : (char) random.nextInt(0x80));
			}

			assertThat(decode(random.nextLong(), text.toString())).isEmpty();
		}
	}

	@Test
	@Timeout(10)
	void enormousRunLengthsCostNothing() {
		byte[] content = new byte[3_000];
		for (int i = 0; i < content.length; i++) {
			content[i] = (byte) ((i % 10 == 9) ? 0x01 : 0xFF);
		}
		String body = Base64.getUrlEncoder().withoutPadding().encodeToString(content);

		for (int round = 0; round < 1_000; round++) {
			assertThat(decode(round, "qs2r" + body)).isEmpty();
		}
	}

	@Test
	@Timeout(10)
	void enormousRangeIsOneRange() {
		OffsetRanges settled = ranges(1, 1L << 62);

		OffsetRanges decoded = decode(0, encode(0, settled).text()).orElseThrow();

		assertThat(decoded.size()).isOne();
		assertThat(decoded.contains(1L << 61)).isTrue();
	}

	@Test
	void endOfWhatWasBegunComesBack() {
		for (long begun : new long[] { 6, 7, 10_000, 1L << 62 }) {
			String text = this.codec.encode(5, new AckedSet(ranges(6, 6, 9, 12), begun)).text();

			assertThat(AckedSetCodec.decode(5, text)).contains(new AckedSet(ranges(6, 6, 9, 12), begun));
		}
	}

	@Test
	void whatWasBegunIsToldEvenIfNothingIsSettled() {
		String text = this.codec.encode(5, new AckedSet(OffsetRanges.EMPTY, 9)).text();

		assertThat(text).hasSizeLessThan(16);
		assertThat(AckedSetCodec.decode(5, text)).contains(new AckedSet(OffsetRanges.EMPTY, 9));
	}

	@Test
	void ledgerIsEncodedLikeItsSet() {
		SplittableRandom random = Seeds.random("AckedSetCodecTests");
		for (int round = 0; round < 200; round++) {
			PartitionLedger<String> ledger = new PartitionLedger<>(10_000, 7, ranges(2_000_000, 2_000_003));
			long offset = 7;
			for (int i = random.nextInt(10_000); i > 0; i--) {
				offset += random.nextInt(1, 4);
				long sequence = ledger.append(offset, "");
				if (random.nextInt(3) > 0) {
					ledger.settle(sequence);
				}
			}
			ledger.advance();
			long watermark = ledger.watermark();

			assertThat(this.codec.encode(ledger, watermark + 9))
				.isEqualTo(this.codec.encode(watermark, new AckedSet(ledger.settledAboveWatermark(), watermark + 9)));
		}
	}

	private Encoded encode(long watermark, OffsetRanges settled) {
		return this.codec.encode(watermark, new AckedSet(settled, 0));
	}

	private static Optional<OffsetRanges> decode(long watermark, String text) {
		return AckedSetCodec.decode(watermark, text).map(AckedSet::settled);
	}

	private void assertComesBack(long watermark, OffsetRanges settled) {
		Encoded encoded = encode(watermark, settled);

		assertThat(encoded.text()).hasSizeLessThanOrEqualTo(AckedSetCodec.MAX_LENGTH);
		assertThat(encoded.truncated()).isFalse();
		assertThat(decode(watermark, encoded.text())).contains(settled);
	}

	/** At least one range, spread over not much more than {@code span} offsets. */
	private static OffsetRanges randomRanges(SplittableRandom random, long watermark, int span) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		int longest = 1 << random.nextInt(10);
		int widest = 1 << random.nextInt(10);
		long end = watermark + 1 + random.nextInt(span);
		long offset = watermark + random.nextInt(widest);
		do {
			long last = offset + random.nextInt(longest);
			ranges.add(offset, last);
			offset = last + 2 + random.nextInt(widest);
		}
		while (offset < end);
		return ranges.build();
	}

	private static OffsetRanges upTo(OffsetRanges settled, long last) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		for (int range = 0; range < settled.size() && settled.first(range) <= last; range++) {
			ranges.add(settled.first(range), Math.min(settled.last(range), last));
		}
		return ranges.build();
	}

	private static String damage(SplittableRandom random, String text) {
		StringBuilder damaged = new StringBuilder(text);
		int at = random.nextInt(text.length());
		switch (random.nextInt(4)) {
			case 0 -> damaged.setCharAt(at, (char) random.nextInt(0x80));
			case 1 -> damaged.setLength(at);
			case 2 -> damaged.deleteCharAt(at);
			default -> damaged.insert(at, (char) random.nextInt(0x21, 0x7F));
		}
		return damaged.toString();
	}

	private static OffsetRanges ranges(long... bounds) {
		return OffsetRangesTests.ranges(bounds);
	}

}
