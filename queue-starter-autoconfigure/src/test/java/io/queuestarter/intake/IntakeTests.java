package io.queuestarter.intake;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.LongStream;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.Stage;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.NoAnswers;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Seeds;
import io.queuestarter.testkit.Trust;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The consumer thread's side, with one worker that takes a record when the test says so.
 * Records have 10 bytes.
 */
class IntakeTests {

	private static final TopicPartition P0 = Records.partition(0);

	private static final TopicPartition RETRY = new TopicPartition("orders-retry", 0);

	private static final TopicPartition P1 = Records.partition(1);

	private static final TopicPartition P2 = Records.partition(2);

	@Test
	void everyRecordPolledIsAdmittedWhileThereIsRoom() {
		Fixture fixture = new Fixture().window(100);
		Intake intake = fixture.intake();
		intake.begin(P0, 5, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 5, 25));

		assertThat(intake.isPaused(P0)).isFalse();
		assertThat(fixture.handleAll(intake)).containsExactlyElementsOf(offsets(5, 25));
		assertThat(ledger(intake, P0).watermark()).isEqualTo(25);
	}

	@Test
	void recordsOfTheListenerAreBoundedAndAllPartitionsPause() {
		Fixture fixture = new Fixture().records(10);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 0, 30));

		assertThat(fixture.dispatcher.waiting()).isEqualTo(10);
		assertThat(intake.paused()).containsExactly(P0, P1);
		assertThat(intake.isAllPaused()).isTrue();
		assertThat(ledger(intake, P0).tracked()).isEqualTo(10);
	}

	@Test
	void partitionsResumeWhenHalfOfTheRecordsAreLeft() {
		Fixture fixture = new Fixture().records(10);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 10));
		assertThat(intake.isPaused(P0)).isTrue();

		fixture.handle(4);
		intake.proceed();
		assertThat(intake.isPaused(P0)).isTrue();
		int before = fixture.told;
		fixture.handle(1);
		intake.proceed();

		assertThat(fixture.told).isGreaterThan(before);
		assertThat(intake.isPaused(P0)).isFalse();
	}

	@Test
	void recordsOfAPartitionAreBoundedAndOnlyItPauses() {
		Fixture fixture = new Fixture().partitionRecords(10);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 0, 30), Records.range(P1, 0, 9));

		assertThat(intake.paused()).containsExactly(P0);
		assertThat(intake.isAllPaused()).isFalse();
		assertThat(ledger(intake, P0).tracked()).isEqualTo(10);
		assertThat(ledger(intake, P1).tracked()).isEqualTo(9);
		fixture.handle(39 - 20);
		intake.proceed();
		assertThat(intake.paused()).containsExactly(P0);
		fixture.handleAll(intake);
		assertThat(intake.paused()).isEmpty();
		assertThat(ledger(intake, P0).watermark()).isEqualTo(30);
	}

	@Test
	void bytesOfTheListenerAreBoundedAndPartitionsThatHoldSomePause() {
		Fixture fixture = new Fixture().bytes(100);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 0, 30));

		assertThat(fixture.common.held()).isEqualTo(100);
		assertThat(intake.paused()).containsExactly(P0);
		fixture.handle(5);
		intake.proceed();
		assertThat(fixture.common.held()).isEqualTo(100);
		assertThat(fixture.handleAll(intake)).hasSize(25);
		assertThat(intake.paused()).isEmpty();
	}

	@Test
	void bytesOfAPartitionAreBoundedAndOnlyItPauses() {
		Fixture fixture = new Fixture().partitionBytes(100);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 0, 10), Records.range(P1, 0, 9));

		assertThat(intake.paused()).containsExactly(P0);
		fixture.handle(2);
		intake.proceed();
		assertThat(intake.paused()).isEmpty();
	}

	@Test
	void bytesThatAreStuckInOnePartitionStopNoOther() {
		Fixture fixture = new Fixture().bytes(100).partitionBytes(100);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);
		poll(intake, List.of(Records.record(P0, 0, 1_000)));
		Delivery stuck = fixture.take();

		poll(intake, Records.range(P1, 0, 20));

		assertThat(fixture.handleAll(intake)).hasSize(20);
		assertThat(intake.paused()).containsExactly(P0);
		assertThat(ledger(intake, P1).watermark()).isEqualTo(20);
		assertThat(stuck.isEnded()).isFalse();
	}

	@Test
	void windowIsBoundedAndOnlyItsPartitionPauses() {
		Fixture fixture = new Fixture().window(10);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 10));
		Delivery first = fixture.take();

		fixture.handle(9);
		intake.proceed();
		assertThat(intake.paused()).containsExactly(P0);
		int before = fixture.told;
		fixture.settle(first);
		assertThat(fixture.told).isGreaterThan(before);
		intake.proceed();

		assertThat(intake.paused()).isEmpty();
		assertThat(ledger(intake, P0).watermark()).isEqualTo(10);
	}

	@Test
	void headIsToldOnlyWhileTheWindowIsFull() {
		Fixture fixture = new Fixture().window(4);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 3));
		fixture.handle(1);
		assertThat(fixture.told).isZero();

		poll(intake, Records.range(P0, 3, 6));
		fixture.handle(1);

		assertThat(fixture.told).isOne();
	}

	@Test
	void whatIsPendingIsAdmittedLaterInOrder() {
		Fixture fixture = new Fixture().records(3).window(5);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 0, 1000));

		assertThat(fixture.handleAll(intake)).containsExactlyElementsOf(offsets(0, 1000));
		assertThat(ledger(intake, P0).watermark()).isEqualTo(1000);
		assertThat(intake.paused()).isEmpty();
	}

	@Test
	void U22_recordsOfARetryTopicRestFromTheirTimestampOnAndOthersGoOn() {
		Fixture fixture = new Fixture().resting(RETRY, Duration.ofSeconds(10));
		Intake intake = fixture.intake();
		intake.begin(RETRY, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);
		long now = fixture.clock.now().toEpochMilli();

		poll(intake, List.of(at(RETRY, 0, now - 10_000), at(RETRY, 1, now - 9_999), at(RETRY, 2, now - 4_000)),
				Records.range(P1, 0, 3));

		assertThat(intake.paused()).containsExactly(RETRY);
		assertThat(ledger(intake, RETRY).next()).isOne();
		assertThat(ledger(intake, P1).next()).isEqualTo(3);
		assertThat(intake.nanosUntilDue()).isEqualTo(Duration.ofMillis(1).toNanos());
		assertThat(intake.isShortOfRoom()).as("nothing can make it go on but time").isFalse();
		fixture.clock.advance(Duration.ofMillis(1).minusNanos(1));
		intake.proceed();
		assertThat(ledger(intake, RETRY).next()).isOne();
		fixture.clock.advance(Duration.ofNanos(1));
		intake.proceed();
		assertThat(ledger(intake, RETRY).next()).isEqualTo(2);
		assertThat(intake.nanosUntilDue(RETRY)).isEqualTo(Duration.ofMillis(5_999).toNanos());
		fixture.clock.advance(Duration.ofMillis(5_999));
		intake.proceed();
		assertThat(ledger(intake, RETRY).next()).isEqualTo(3);
		assertThat(intake.paused()).isEmpty();
		assertThat(intake.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void timestampOfTheFutureOrNoneDoesNotStopARetryTopic() {
		Fixture fixture = new Fixture().resting(RETRY, Duration.ofSeconds(10));
		Intake intake = fixture.intake();
		intake.begin(RETRY, 0, AckedSet.EMPTY, -1);

		poll(intake, List.of(at(RETRY, 0, -1), at(RETRY, 1, Long.MAX_VALUE)));

		assertThat(ledger(intake, RETRY).next()).isOne();
		fixture.clock.advance(Duration.ofSeconds(10));
		intake.proceed();
		assertThat(ledger(intake, RETRY).next()).isEqualTo(2);
	}

	@Test
	void recordSettledBeforeDoesNotRest() {
		Fixture fixture = new Fixture().resting(RETRY, Duration.ofSeconds(10));
		Intake intake = fixture.intake();
		intake.begin(RETRY, 0, new AckedSet(ranges(1, 1), 2), -1);
		long now = fixture.clock.now().toEpochMilli();

		poll(intake, List.of(at(RETRY, 0, now - 10_000), at(RETRY, 1, now), at(RETRY, 2, now)));

		assertThat(ledger(intake, RETRY).next()).isEqualTo(2);
		assertThat(ledger(intake, RETRY).settled()).isOne();
	}

	private static ConsumerRecord<byte[], byte[]> at(TopicPartition partition, long offset, long timestamp) {
		return new ConsumerRecord<>(partition.topic(), partition.partition(), offset, timestamp,
				TimestampType.CREATE_TIME, -1, 10, null, new byte[10], new RecordHeaders(), Optional.empty());
	}

	@Test
	void partitionsShareTheRoomEvenly() {
		Fixture fixture = new Fixture().records(30);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);
		intake.begin(P2, 0, AckedSet.EMPTY, -1);

		poll(intake, Records.range(P0, 0, 500), Records.range(P1, 0, 500), Records.range(P2, 0, 4));

		assertThat(ledger(intake, P2).tracked()).isEqualTo(4);
		assertThat(ledger(intake, P0).tracked()).isEqualTo(13);
		assertThat(ledger(intake, P1).tracked()).isEqualTo(13);
		fixture.handle(26);
		intake.proceed();
		assertThat(ledger(intake, P0).next() + ledger(intake, P1).next()).isEqualTo(52);
		assertThat(ledger(intake, P0).next()).isBetween(25L, 27L);
	}

	@Test
	void lastPlaceGoesRound() {
		Fixture fixture = new Fixture().records(1);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 100), Records.range(P1, 0, 100));

		for (int i = 0; i < 20; i++) {
			fixture.handle(1);
			intake.proceed();
		}

		assertThat(ledger(intake, P0).next()).isBetween(9L, 12L);
		assertThat(ledger(intake, P1).next()).isBetween(9L, 12L);
	}

	@Test
	void restoredOffsetsAreNotDispatched() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 5, settled(6, 8, 10, 10), -1);

		poll(intake, Records.range(P0, 5, 12));

		assertThat(ledger(intake, P0).tracked()).isEqualTo(7);
		assertThat(ledger(intake, P0).settledAboveWatermark()).isEqualTo(ranges(6, 8, 10, 10));
		assertThat(fixture.handleAll(intake)).containsExactly(5L, 9L, 11L);
		assertThat(ledger(intake, P0).watermark()).isEqualTo(12);
	}

	@Test
	void recordsBegunBeforeAndNotSettledCountAsRedelivered() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 5, new AckedSet(ranges(6, 8), 11), -1);

		poll(intake, Records.range(P0, 5, 15));

		assertThat(assignment(intake, P0).begun()).isEqualTo(11);
		assertThat(fixture.handleAll(intake)).containsExactly(5L, 9L, 10L, 11L, 12L, 13L, 14L);
		assertThat(fixture.counts.redelivered()).isEqualTo(3);
		assertThat(assignment(intake, P0).begun()).isEqualTo(15);
	}

	@Test
	void restoredOffsetsWrittenAnewUnderALaterLeaderRunAgain() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 5, settled(6, 8, 10, 11), 3);

		poll(intake, Records.range(P0, 5, 8, 3));
		poll(intake, Records.range(P0, 8, 12, 4));

		assertThat(fixture.handleAll(intake)).containsExactly(5L, 8L, 9L, 10L, 11L);
		assertThat(assignment(intake, P0).leaderEpoch()).isEqualTo(4);
	}

	@Test
	void recordBehindRestoredOffsetsHoldsTheHeadAtOnce() {
		Fixture fixture = new Fixture().window(2);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, settled(0, 4), -1);
		poll(intake, Records.range(P0, 0, 10));
		assertThat(ledger(intake, P0).watermark()).isEqualTo(5);
		int before = fixture.told;

		fixture.handle(1);

		assertThat(fixture.told).isGreaterThan(before);
	}

	@Test
	void restoredOffsetsTakeNoRoomAmongTheWaiting() {
		Fixture fixture = new Fixture().records(2).window(100);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, settled(0, 49, 51, 80), -1);

		poll(intake, Records.range(P0, 0, 82));

		assertThat(fixture.dispatcher.waiting()).isEqualTo(2);
		assertThat(fixture.handleAll(intake)).containsExactly(50L, 81L);
	}

	@Test
	void positionBehindGapsMovesTheWatermarkOnceNothingIsTracked() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.records(P0, 0, 2));

		intake.reached(Map.of(P0, new OffsetAndMetadata(7), P1, new OffsetAndMetadata(9)));
		intake.proceed();
		assertThat(ledger(intake, P0).watermark()).isZero();
		fixture.handleAll(intake);

		assertThat(ledger(intake, P0).watermark()).isEqualTo(7);
	}

	@Test
	void positionBehindPendingRecordsDoesNotMoveTheWatermark() {
		Fixture fixture = new Fixture().bytes(10);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		intake.begin(P1, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 1));

		poll(intake, Records.range(P1, 0, 5));

		assertThat(ledger(intake, P1).tracked()).isOne();
		assertThat(ledger(intake, P1).watermark()).isZero();
	}

	@Test
	void unknownStartIsWhatThePollBrings() {
		Intake intake = new Fixture().intake();
		intake.begin(P0, -1, AckedSet.EMPTY, -1);
		intake.proceed();
		assertThat(ledger(intake, P0).watermark()).isEqualTo(-1);

		poll(intake, Records.range(P0, 40, 42));

		assertThat(ledger(intake, P0).watermark()).isEqualTo(40);
	}

	@Test
	void X23_recordOfAnEarlierAssignmentDoesNotStandInTheWayOfItsRedelivery() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 5, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 5, 7));
		Delivery stale = fixture.take();
		intake.close(P0);

		intake.begin(P0, 5, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 5, 7));
		fixture.settle(stale);
		intake.proceed();

		assertThat(ledger(intake, P0).watermark()).isEqualTo(5);
		assertThat(fixture.handleAll(intake)).containsExactly(5L, 6L);
		assertThat(ledger(intake, P0).watermark()).isEqualTo(7);
	}

	@Test
	void logThatWentBackStartsAnew() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 100, settled(101, 103), -1);
		poll(intake, Records.range(P0, 100, 110));
		Assignment old = assignment(intake, P0);
		Delivery inFlight = fixture.take();

		poll(intake, Records.range(P0, 0, 5));

		assertThat(inFlight.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(old.outstanding()).isZero();
		assertThat(assignment(intake, P0)).isNotSameAs(old);
		assertThat(ledger(intake, P0).settledAboveWatermark()).isEqualTo(OffsetRanges.EMPTY);
		assertThat(fixture.handleAll(intake)).containsExactlyElementsOf(offsets(0, 5));
		assertThat(ledger(intake, P0).watermark()).isEqualTo(5);
	}

	@Test
	void logThatWentBackIntoTheWindowLosesNothingBelow() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		intake.begin(P0, 5, settled(6, 6, 12, 12), -1);
		poll(intake, Records.range(P0, 5, 10));
		Delivery inFlight = fixture.take();
		fixture.handle(1);

		poll(intake, Records.range(P0, 9, 13));

		assertThat(inFlight.state()).isEqualTo(DeliveryState.LET_GO);
		assertThat(ledger(intake, P0).watermark()).isEqualTo(5);
		assertThat(fixture.handleAll(intake)).containsExactly(5L, 8L, 9L, 10L, 11L, 12L);
		assertThat(ledger(intake, P0).watermark()).isEqualTo(13);
	}

	@Test
	void offsetsFarAboveZeroAndFarApartAreHandledLikeOthers() {
		Fixture fixture = new Fixture();
		Intake intake = fixture.intake();
		long far = 1L << 40;
		long farther = far + (1L << 33);
		intake.begin(P0, far, settled(far + 1, far + 3), -1);
		poll(intake, Records.range(P0, far, far + 10));
		Delivery held = fixture.take();
		poll(intake, Records.records(P0, farther, farther + 5));

		assertThat(fixture.handleAll(intake)).containsExactly(far + 4, far + 5, far + 6, far + 7, far + 8, far + 9,
				farther, farther + 5);
		assertThat(ledger(intake, P0).watermark()).isEqualTo(far);
		OffsetRanges settled = ledger(intake, P0).settledAboveWatermark();
		assertThat(settled).isEqualTo(ranges(far + 1, farther + 5));
		String text = new AckedSetCodec().encode(ledger(intake, P0), 0).text();
		assertThat(AckedSetCodec.decode(far, text)).contains(new AckedSet(settled, far));

		fixture.settle(held);
		intake.proceed();
		assertThat(ledger(intake, P0).watermark()).isEqualTo(farther + 6);
	}

	@Test
	void pendingRecordsThatArePolledAgainRunOnce() {
		Fixture fixture = new Fixture().records(2);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 10));

		poll(intake, Records.range(P0, 5, 12));

		assertThat(fixture.handleAll(intake)).containsExactlyElementsOf(offsets(0, 12));
		assertThat(ledger(intake, P0).watermark()).isEqualTo(12);
	}

	@Test
	void recordLargerThanTheBytesIsHandled() {
		Fixture fixture = new Fixture().bytes(100).partitionBytes(50);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);

		poll(intake, List.of(Records.record(P0, 0, 1_000), Records.record(P0, 1, 1_000)));

		assertThat(ledger(intake, P0).tracked()).isOne();
		assertThat(fixture.handleAll(intake)).containsExactly(0L, 1L);
		assertThat(intake.paused()).isEmpty();
		assertThat(fixture.common.held()).isZero();
	}

	@Test
	void closedPartitionDropsWhatWaitsAndWhatIsPending() {
		Fixture fixture = new Fixture().records(5);
		Intake intake = fixture.intake();
		intake.begin(P0, 0, AckedSet.EMPTY, -1);
		poll(intake, Records.range(P0, 0, 10));

		Assignment closed = Objects.requireNonNull(intake.close(P0));

		assertThat(closed.ledger().tracked()).isEqualTo(5);
		assertThat(fixture.dispatcher.waiting()).isZero();
		assertThat(intake.partitions()).isEmpty();
		assertThat(intake.isAllPaused()).isFalse();
		assertThat(intake.isPaused(P0)).isFalse();
		assertThat(intake.close(P0)).isNull();
		assertThat(fixture.handleAll(intake)).isEmpty();
	}

	@Test
	void recordsOfAPartitionNotAssignedAreRefused() {
		Intake intake = new Fixture().intake();

		assertThatIllegalStateException().isThrownBy(() -> intake.accept(Records.polled(Records.range(P0, 0, 1))))
			.withMessage("Records of 'orders-0' which is not assigned");
	}

	@Test
	void anyPollUnderAnyBoundsIsHandledOnceInOrder() {
		SplittableRandom random = Seeds.random("IntakeTests");
		for (int round = 0; round < 300; round++) {
			Fixture fixture = new Fixture().window(1 + random.nextInt(30))
				.records(1 + random.nextInt(30))
				.bytes(1 + random.nextInt(300))
				.partitionRecords(1 + random.nextInt(30))
				.partitionBytes(1 + random.nextInt(300));
			new RandomRun(fixture, random).run();
		}
	}

	@SafeVarargs
	private static void poll(Intake intake, List<ConsumerRecord<byte[], byte[]>>... records) {
		intake.accept(Records.polled(records));
		intake.proceed();
	}

	private static PartitionLedger<Delivery> ledger(Intake intake, TopicPartition partition) {
		return assignment(intake, partition).ledger();
	}

	private static Assignment assignment(Intake intake, TopicPartition partition) {
		return intake.assignments()
			.stream()
			.filter((assignment) -> assignment.partition().equals(partition))
			.findFirst()
			.orElseThrow();
	}

	private static List<Long> offsets(long from, long to) {
		return LongStream.range(from, to).boxed().toList();
	}

	private static AckedSet settled(long... bounds) {
		return new AckedSet(ranges(bounds), 0);
	}

	private static OffsetRanges ranges(long... bounds) {
		OffsetRanges.Builder ranges = new OffsetRanges.Builder();
		for (int i = 0; i < bounds.length; i += 2) {
			ranges.add(bounds[i], bounds[i + 1]);
		}
		return ranges.build();
	}

	/** An intake with wide bounds, unless a test narrows them. */
	private static final class Fixture {

		private final ManualClock clock = new ManualClock();

		private final IntakeCounts counts = new IntakeCounts();

		private final NoAnswers answers = new NoAnswers();

		private final ArrayDeque<Runnable> workers = new ArrayDeque<>();

		private int window = 10_000;

		private int records = 10_000;

		private long bytes = 1 << 20;

		private int partitionRecords = 10_000;

		private long partitionBytes = 1 << 20;

		private @Nullable Delivery taken;

		private int told;

		private Dispatcher<Delivery> dispatcher = dispatcher();

		private Function<String, Stage> stages = Stage::source;

		private ByteBudget common = new ByteBudget(this.bytes, this::tell);

		Fixture resting(TopicPartition partition, Duration delay) {
			this.stages = (topic) -> topic.equals(partition.topic()) ? new Stage("source", Stage.Kind.RETRY, delay)
					: Stage.source(topic);
			return this;
		}

		Fixture window(int value) {
			this.window = value;
			return this;
		}

		Fixture records(int value) {
			this.records = value;
			this.dispatcher = dispatcher();
			return this;
		}

		Fixture bytes(long value) {
			this.bytes = value;
			this.common = new ByteBudget(value, this::tell);
			return this;
		}

		Fixture partitionRecords(int value) {
			this.partitionRecords = value;
			return this;
		}

		Fixture partitionBytes(long value) {
			this.partitionBytes = value;
			return this;
		}

		Intake intake() {
			return new Intake(
					new IntakeLimits(this.window, this.records, this.bytes, this.partitionRecords, this.partitionBytes),
					this.stages, new IntakeLanes(this.dispatcher), this.common, this.counts, this.clock, this::tell);
		}

		/** Starts the next record; its slot is free again at once. */
		Delivery take() {
			return Objects.requireNonNull(takeIfAny(), "nothing waits");
		}

		@Nullable Delivery takeIfAny() {
			this.taken = null;
			while (this.taken == null && !this.workers.isEmpty()) {
				this.workers.remove().run();
			}
			if (this.taken != null) {
				this.dispatcher.release(0);
			}
			return this.taken;
		}

		void handle(int count) {
			for (int i = 0; i < count; i++) {
				settle(take());
			}
		}

		/** Handles records, and lets the consumer thread proceed, until nothing waits. */
		List<Long> handleAll(Intake intake) {
			List<Long> handled = new ArrayList<>();
			for (Delivery next = takeIfAny(); next != null; next = takeIfAny()) {
				handled.add(next.offset());
				settle(next);
				intake.proceed();
			}
			intake.proceed();
			return handled;
		}

		void settle(Delivery delivery) {
			assertThat(delivery.settle(DeliveryState.IN_FLIGHT)).isTrue();
		}

		private Dispatcher<Delivery> dispatcher() {
			return new Dispatcher<>(1, this.records / 2, this.workers::add, this::run, this::tell);
		}

		private boolean run(Delivery delivery, int slot) {
			if (delivery.start(this.answers, slot, this.clock,
					new AttemptTimeout(Duration.ofNanos(1), 1, Duration.ofNanos(1)), Trust.circuit()) == null) {
				return true;
			}
			this.taken = delivery;
			return false;
		}

		private void tell() {
			this.told++;
		}

	}

	private static final class RandomRun {

		private final Fixture fixture;

		private final SplittableRandom random;

		private final Intake intake;

		private final Map<TopicPartition, Long> polled = new HashMap<>();

		private final Map<TopicPartition, List<Long>> sent = new HashMap<>();

		private final Map<TopicPartition, List<Long>> handled = new HashMap<>();

		RandomRun(Fixture fixture, SplittableRandom random) {
			this.fixture = fixture;
			this.random = random;
			this.intake = fixture.intake();
			for (TopicPartition partition : List.of(P0, P1, P2)) {
				this.intake.begin(partition, 0, AckedSet.EMPTY, -1);
				this.polled.put(partition, 0L);
			}
		}

		void run() {
			for (int step = 0; step < 200; step++) {
				if (this.random.nextInt(3) == 0) {
					poll();
				}
				handleSome(this.random.nextInt(10));
				this.intake.proceed();
				check();
			}
			while (!this.fixture.workers.isEmpty()) {
				handleSome(100);
				this.intake.proceed();
				check();
			}
			assertThat(this.handled).isEqualTo(this.sent);
			assertThat(this.intake.paused()).isEmpty();
			assertThat(this.fixture.common.held()).isZero();
			this.polled.forEach(
					(partition, end) -> assertThat(ledger(this.intake, partition).watermark()).isEqualTo((long) end));
		}

		private void poll() {
			for (TopicPartition partition : List.of(P0, P1, P2)) {
				if (this.intake.isPaused(partition) || this.random.nextBoolean()) {
					continue;
				}
				List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
				long offset = this.polled.getOrDefault(partition, 0L);
				for (int i = 1 + this.random.nextInt(60); i > 0; i--) {
					offset += (this.random.nextInt(10) == 0) ? 2 : 0;
					add(this.sent, partition, offset);
					records.add(Records.record(partition, offset++, this.random.nextInt(40)));
				}
				this.polled.put(partition, offset);
				this.intake.accept(Records.polled(records));
			}
		}

		private void handleSome(int count) {
			for (int i = 0; i < count; i++) {
				Delivery delivery = this.fixture.takeIfAny();
				if (delivery == null) {
					return;
				}
				add(this.handled, delivery.assignment().partition(), delivery.offset());
				this.fixture.settle(delivery);
			}
		}

		private static void add(Map<TopicPartition, List<Long>> offsets, TopicPartition partition, long offset) {
			offsets.computeIfAbsent(partition, (key) -> new ArrayList<>()).add(offset);
		}

		private void check() {
			assertThat(this.fixture.dispatcher.waiting()).isLessThanOrEqualTo(this.fixture.records);
			assertThat(this.fixture.common.held())
				.isLessThan(this.fixture.bytes + 40 * this.intake.assignments().size());
			for (Assignment assignment : this.intake.assignments()) {
				assertThat(this.fixture.dispatcher.waiting(assignment.queues().own().get(0)))
					.isLessThanOrEqualTo(this.fixture.partitionRecords);
				assertThat(assignment.bytes().held()).isLessThan(this.fixture.partitionBytes + 40);
			}
		}

	}

}
