package io.queuestarter.commit;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.NoAnswers;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;

class CommitLogTests {

	private static final long INTERVAL = Duration.ofSeconds(1).toNanos();

	private static final long REPEAT = Duration.ofMillis(100).toNanos();

	private static final TopicPartition PARTITION = Records.partition(0);

	private final CommitLog log = new CommitLog(INTERVAL, 0);

	@Test
	void commitIsDueAfterTheInterval() {
		assertThat(this.log.nanosUntilDue(0)).isEqualTo(INTERVAL);
		assertThat(this.log.nanosUntilDue(INTERVAL)).isZero();
		assertThat(this.log.nanosUntilDue(INTERVAL + 5)).isEqualTo(-5);
	}

	@Test
	void atMostOneCommitIsInFlight() {
		this.log.attempted(INTERVAL, Set.of(PARTITION));
		assertThat(this.log.nanosUntilDue(100 * INTERVAL)).isEqualTo(Long.MAX_VALUE);

		this.log.succeeded(Map.of());

		assertThat(this.log.nanosUntilDue(INTERVAL)).isEqualTo(INTERVAL);
	}

	@Test
	void lookThatFoundNothingWaitsForTheInterval() {
		this.log.attempted(INTERVAL, Set.of());

		assertThat(this.log.nanosUntilDue(INTERVAL)).isEqualTo(INTERVAL);
	}

	/*
	 * As of a log that lost its tail: the watermark goes back, is committed without an
	 * answer, and comes to what was acknowledged before.
	 */
	@Test
	void whatMayBeOverwrittenIsCommittedAgain() {
		Assignment assignment = assignment(19, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, new OffsetAndMetadata(19, ""));
		assertThat(changes(assignment)).isEmpty();
		this.log.attempted(INTERVAL, Set.of(PARTITION));
		this.log.failed(Instant.EPOCH);

		Map<TopicPartition, OffsetAndMetadata> changes = changes(assignment);

		assertThat(changes).containsEntry(PARTITION, new OffsetAndMetadata(19, Optional.empty(), ""));
		this.log.attempted(INTERVAL, changes.keySet());
		this.log.succeeded(changes);
		assertThat(changes(assignment)).isEmpty();
	}

	@Test
	void failedCommitIsRepeatedSoonButNotAtOnce() {
		this.log.attempted(INTERVAL, Set.of(PARTITION));

		this.log.failed(Instant.EPOCH);

		assertThat(this.log.nanosUntilDue(INTERVAL)).isEqualTo(REPEAT);
		assertThat(this.log.failures()).isOne();
		this.log.attempted(INTERVAL + REPEAT, Set.of(PARTITION));
		this.log.failed(Instant.EPOCH);
		assertThat(this.log.nanosUntilDue(INTERVAL + REPEAT)).isEqualTo(REPEAT);
		assertThat(this.log.failures()).isEqualTo(2);
		this.log.attempted(INTERVAL + 2 * REPEAT, Set.of(PARTITION));
		this.log.succeeded(Map.of());
		assertThat(this.log.nanosUntilDue(INTERVAL + 2 * REPEAT)).isEqualTo(INTERVAL);
		assertThat(this.log.failures()).isZero();
	}

	@Test
	void intervalShorterThanThePauseIsKeptAfterAFailure() {
		CommitLog quick = new CommitLog(REPEAT / 2, 0);
		quick.attempted(0, Set.of(PARTITION));

		quick.failed(Instant.EPOCH);

		assertThat(quick.nanosUntilDue(0)).isEqualTo(REPEAT / 2);
	}

	@Test
	void changesCarryWatermarkAndSettledSet() {
		Assignment assignment = assignment(5, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, new OffsetAndMetadata(5));
		assertThat(changes(assignment)).isEmpty();

		assignment.ledger().appendSettled(5);
		assignment.admit(Records.record(PARTITION, 6, 10), RecordContext.DEFAULT, 0);
		assignment.ledger().appendSettled(7);
		assignment.ledger().advance();

		OffsetAndMetadata change = changes(assignment).get(PARTITION);
		assertThat(change).isNotNull();
		assertThat(change.offset()).isEqualTo(6);
		assertThat(AckedSetCodec.decode(6, change.metadata()).orElseThrow().settled()).hasToString("[7-7]");
	}

	@Test
	void changeOfTheSettledSetAloneIsAChange() {
		Assignment assignment = assignment(5, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, new OffsetAndMetadata(5));
		assignment.admit(Records.record(PARTITION, 5, 10), RecordContext.DEFAULT, 0);
		assertThat(changes(assignment)).isEmpty();

		assignment.ledger().appendSettled(6);

		assertThat(changes(assignment)).containsOnlyKeys(PARTITION);
	}

	@Test
	void commitTellsHowFarHandlersHaveCome() {
		Assignment assignment = assignment(5, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, new OffsetAndMetadata(5));
		assignment.admit(Records.record(PARTITION, 5, 10), RecordContext.DEFAULT, 0);
		Delivery second = assignment.admit(Records.record(PARTITION, 6, 10), RecordContext.DEFAULT, 0);
		assignment.admit(Records.record(PARTITION, 7, 10), RecordContext.DEFAULT, 0);
		second.start(new NoAnswers(), 0, new ManualClock(),
				new AttemptTimeout(Duration.ofNanos(1), 1, Duration.ofNanos(1)), Trust.circuit());

		OffsetAndMetadata change = changes(assignment).get(PARTITION);

		assertThat(change).isNotNull();
		assertThat(AckedSetCodec.decode(5, change.metadata())).contains(new AckedSet(OffsetRanges.EMPTY, 7));
	}

	@Test
	void commitCarriesTheLeaderEpoch() {
		Assignment assignment = assignment(5, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, null);

		assignment.polled(7);
		assignment.polled(6);

		assertThat(changes(assignment)).containsEntry(PARTITION, new OffsetAndMetadata(5, Optional.of(7), ""));
	}

	@Test
	void partitionWhoseSetDoesNotFitIsTruncated() {
		Assignment assignment = assignment(0, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, new OffsetAndMetadata(0));
		for (long offset = 1; offset <= 5_000; offset++) {
			assignment.admit(Records.record(PARTITION, offset * 20, 10), RecordContext.DEFAULT, 0);
			assignment.ledger().appendSettled(offset * 20 + 10);
		}

		Map<TopicPartition, OffsetAndMetadata> changes = changes(assignment);
		this.log.succeeded(changes);

		assertThat(this.log.isTruncated(PARTITION)).isTrue();
		assertThat(this.log.metadataLength(PARTITION)).isBetween(4_000, AckedSetCodec.MAX_LENGTH);
		this.log.close(PARTITION);
		assertThat(this.log.isTruncated(PARTITION)).isFalse();
		assertThat(this.log.metadataLength(PARTITION)).isZero();
	}

	@Test
	void failingSinceTheFirstFailureAfterASuccess() {
		Instant first = Instant.ofEpochSecond(1);
		assertThat(this.log.failingSince()).isNull();

		this.log.failed(first);
		this.log.failed(first.plusSeconds(5));
		assertThat(this.log.failingSince()).isEqualTo(first);

		this.log.succeeded(Map.of());
		assertThat(this.log.failingSince()).isNull();
	}

	@Test
	void contentIsComparedWithWhatTheBrokerAcknowledgedLast() {
		Assignment assignment = assignment(5, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, null);
		assertThat(this.log.committed(PARTITION)).isEqualTo(-1);
		Map<TopicPartition, OffsetAndMetadata> changes = changes(assignment);
		assertThat(changes).containsEntry(PARTITION, new OffsetAndMetadata(5));

		this.log.attempted(0, Set.of(PARTITION));
		this.log.failed(Instant.EPOCH);
		assertThat(changes(assignment)).isEqualTo(changes);
		this.log.attempted(REPEAT, Set.of(PARTITION));
		this.log.succeeded(changes);

		assertThat(changes(assignment)).isEmpty();
		assertThat(this.log.committed(PARTITION)).isEqualTo(5);
	}

	@Test
	void whatAnEarlierLogHadCommittedIsCommittedAgainForItsSuccessor() {
		Assignment assignment = assignment(3, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, new OffsetAndMetadata(3));
		assertThat(changes(assignment)).isEmpty();

		this.log.renew(PARTITION);

		assertThat(changes(assignment)).containsKey(PARTITION);
	}

	@Test
	void setTakenOverUnchangedIsNotCommittedAgain() {
		OffsetRanges settled = ranges(7, 9);
		String metadata = new AckedSetCodec().encode(5, new AckedSet(settled, 0)).text();
		this.log.assign(PARTITION, new OffsetAndMetadata(5, metadata));

		Assignment assignment = assignment(5, AckedSetCodec.decode(5, metadata).orElseThrow().settled());

		assertThat(changes(assignment)).isEmpty();
	}

	@Test
	void foreignMetadataIsReplaced() {
		this.log.assign(PARTITION, new OffsetAndMetadata(5, "hello"));

		assertThat(changes(assignment(5, OffsetRanges.EMPTY))).containsEntry(PARTITION, new OffsetAndMetadata(5));
	}

	@Test
	void unknownWatermarkIsNotCommitted() {
		this.log.assign(PARTITION, null);

		assertThat(changes(assignment(-1, OffsetRanges.EMPTY))).isEmpty();
	}

	@Test
	void acknowledgementOfAPartitionClosedMeanwhileIsIgnored() {
		Assignment assignment = assignment(5, OffsetRanges.EMPTY);
		this.log.assign(PARTITION, null);
		Map<TopicPartition, OffsetAndMetadata> changes = changes(assignment);
		this.log.attempted(0, Set.of(PARTITION));

		this.log.close(PARTITION);
		this.log.succeeded(changes);

		assertThat(this.log.committed(PARTITION)).isEqualTo(-1);
		assertThat(this.log.nanosUntilDue(INTERVAL)).isZero();
	}

	@Test
	void newAssignmentBeginsWithWhatTheBrokerAnswers() {
		this.log.assign(PARTITION, new OffsetAndMetadata(100));
		this.log.close(PARTITION);

		this.log.assign(PARTITION, new OffsetAndMetadata(120));

		assertThat(this.log.committed(PARTITION)).isEqualTo(120);
		assertThat(changes(assignment(120, OffsetRanges.EMPTY))).isEmpty();
	}

	private Map<TopicPartition, OffsetAndMetadata> changes(Assignment assignment) {
		return this.log.changes(List.of(assignment));
	}

	private static Assignment assignment(long watermark, OffsetRanges restored) {
		ByteBudget common = new ByteBudget(1 << 20, () -> {
		});
		return Records.assignment(new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true, () -> {
		}), watermark, restored, common, () -> {
		});
	}

	private static OffsetRanges ranges(long first, long last) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		ranges.add(first, last);
		return ranges.build();
	}

}
