package io.queuestarter.container;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.ConsumerTap;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Journal;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The first of ten records is held while the others end. The committed offset must stay
 * in front of it, and the metadata must carry the others. Then the consumer dies: nothing
 * it says reaches the broker any more. The next one may run the held record only, and
 * must remember so much also if it dies before it has polled.
 */
@Tag("threads")
class HeldRecordTests {

	@Test
	void L2_watermarkStaysAtTheHeldRecordAndJumpsToTheEndOnRelease() {
		try (Trial trial = Trial.on("held", 1)) {
			Hold hold = holdFirst(trial);
			trial.send(1, 10);

			trial.start();

			awaitAckedSet(trial, 0, 1, 9);
			Awaitility.await()
				.during(Duration.ofMillis(300))
				.atMost(Duration.ofSeconds(5))
				.untilAsserted(() -> assertThat(trial.committed(0)).isZero());
			hold.release();
			trial.awaitAll(10);
			assertThat(trial.journal().started()).hasSize(10);
			assertThat(trial.metadata(0)).isEmpty();
			assertThat(Broker.committed(trial.topic(), trial.topic(), 0)).extracting(OffsetAndMetadata::leaderEpoch)
				.isEqualTo(Optional.of(0));
		}
	}

	@Test
	void L2_afterACrashOnlyTheHeldRecordRunsAgain() {
		try (Trial trial = Trial.on("crash", 1)) {
			holdFirst(trial);
			trial.send(1, 10);
			AtomicBoolean dead = new AtomicBoolean();
			trial.tap(() -> deadOnceTold(dead));

			QueueApp first = trial.start("kafka-queue.defaults.shutdown.drain-timeout=0");
			awaitAckedSet(trial, 0, 1, 9);
			dead.set(true);
			first.close();
			dead.set(false);
			trial.work((record) -> true);
			QueueApp second = trial.start();

			trial.awaitAll(10);
			assertThat(Trial.queue(second).intakeCounts().redelivered()).isOne();
			List<Journal.Run> again = trial.journal().started().stream().filter((run) -> run.app() == 1).toList();
			assertThat(Journal.offsets(again)).containsExactly(0L);
		}
	}

	@Test
	void X71_restoredRecordsOutliveASecondCrashBeforeTheyArePolledAgain() {
		try (Trial trial = Trial.on("twice", 1)) {
			Set<Long> held = ConcurrentHashMap.newKeySet();
			held.addAll(List.of(0L, 5L, 17L));
			Hold hold = new Hold();
			trial.work((record) -> {
				if (held.contains(record.offset())) {
					hold.await();
				}
				return true;
			});
			trial.send(1, 20);
			String drainNothing = "kafka-queue.defaults.shutdown.drain-timeout=0";
			try (QueueApp first = trial.start(drainNothing)) {
				awaitAckedSet(trial, 17, 18, 2);
				assertThat(Trial.queue(first).inFlight()).isEqualTo(3);
			}

			// A window of two: most of what was restored is not polled again.
			try (QueueApp second = trial.start(drainNothing, "kafka-queue.defaults.ledger.capacity=2",
					"spring.kafka.consumer.max-poll-records=2")) {
				hold.awaitArrived(4);
				assertThat(Trial.queue(second).partitions())
					.allSatisfy((view) -> assertThat(view.next()).isLessThan(5));
			}
			held.clear();
			trial.start();

			trial.awaitAll(20);
			for (long offset : LongStream.range(0, 20).toArray()) {
				long expected = (offset == 0) ? 3 : ((offset == 5 || offset == 17) ? 2 : 1);
				assertThat(trial.journal().starts(trial.partition(0), offset)).as("runs of " + offset)
					.isEqualTo(expected);
			}
		}
	}

	private static Hold holdFirst(Trial trial) {
		Hold hold = new Hold();
		trial.work((record) -> {
			if (record.offset() == 0) {
				hold.await();
			}
			return true;
		});
		return hold;
	}

	/** A consumer of a process that was killed: it says nothing any more. */
	private static ConsumerTap deadOnceTold(AtomicBoolean dead) {
		return (call) -> (dead.get() && call.name().startsWith("commit")) ? null : call.proceed();
	}

	private static void awaitAckedSet(Trial trial, long firstAbove, long from, long count) {
		QueueApp.eventually().untilAsserted(() -> {
			OffsetRanges settled = AckedSetCodec.decode(Math.max(0, trial.committed(0)), trial.metadata(0))
				.orElseThrow()
				.settled();
			assertThat(settled.isEmpty()).isFalse();
			assertThat(settled.last(settled.size() - 1)).isEqualTo(from + count - 1);
			assertThat(settled.contains(firstAbove)).isFalse();
			assertThat(trial.committed(0)).isZero();
		});
	}

}
