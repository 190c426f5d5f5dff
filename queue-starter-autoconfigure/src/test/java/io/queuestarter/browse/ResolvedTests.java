package io.queuestarter.browse;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.Test;

import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

import static org.assertj.core.api.Assertions.assertThat;

class ResolvedTests {

	@Test
	void withoutACommitNothingIsResolved() {
		Resolved resolved = Resolved.of(null, 50);

		assertThat(resolved.contains(0)).isFalse();
		assertThat(resolved.unresolved(3, 10)).isEqualTo(7);
	}

	@Test
	void whatLiesBelowTheWatermarkOrInTheSetIsResolved() {
		Resolved resolved = Resolved.of(commit(10, ranges(12, 13, 20, 29)), 50);

		assertThat(resolved.contains(9)).isTrue();
		assertThat(resolved.contains(10)).isFalse();
		assertThat(resolved.contains(12)).isTrue();
		assertThat(resolved.contains(29)).isTrue();
		assertThat(resolved.contains(30)).isFalse();
	}

	@Test
	void depthLeavesOutWhatIsResolvedOrGone() {
		Resolved resolved = Resolved.of(commit(10, ranges(12, 13, 20, 29)), 50);

		assertThat(resolved.unresolved(0, 40)).isEqualTo(40 - 10 - 12);
		assertThat(resolved.unresolved(13, 40)).isEqualTo(40 - 13 - 11);
		assertThat(resolved.unresolved(0, 25)).isEqualTo(25 - 10 - 7);
		assertThat(resolved.unresolved(0, 5)).isZero();
		assertThat(resolved.unresolved(50, 50)).isZero();
	}

	@Test
	void damagedMetadataCountsAsNone() {
		assertThat(Resolved.of(new OffsetAndMetadata(10, "qs2rAAAA"), 50)).isEqualTo(Resolved.NOTHING);
	}

	@Test
	void commitOfAnotherConsumerHidesNothing() {
		assertThat(Resolved.of(new OffsetAndMetadata(10), 50)).isEqualTo(Resolved.NOTHING);
	}

	@Test
	void commitBeyondTheEndIsOfAnotherLog() {
		OffsetAndMetadata commit = commit(10, OffsetRanges.EMPTY);

		assertThat(Resolved.of(commit, 9)).isEqualTo(Resolved.NOTHING);
		assertThat(Resolved.of(commit, 10)).isEqualTo(new Resolved(10, OffsetRanges.EMPTY));
	}

	@Test
	void groupIsNamedAfterTheQueues() {
		assertThat(Resolved.group("billing-svc")).isEqualTo("billing-svc.dlq");
	}

	private static OffsetAndMetadata commit(long watermark, OffsetRanges above) {
		return new OffsetAndMetadata(watermark,
				new AckedSetCodec().encode(watermark, new AckedSet(above, watermark + 1)).text());
	}

	private static OffsetRanges ranges(long... bounds) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		for (int i = 0; i < bounds.length; i += 2) {
			ranges.add(bounds[i], bounds[i + 1]);
		}
		return ranges.build();
	}

}
