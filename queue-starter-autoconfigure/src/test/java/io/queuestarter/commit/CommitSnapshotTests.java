package io.queuestarter.commit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Records end while the commit is made of the ledger. Watermark and metadata of a commit
 * must speak of one moment: nothing they cover is open, and they fit each other.
 */
@Tag("threads")
class CommitSnapshotTests {

	private static final int RECORDS = 5_000;

	@Test
	void X6_watermarkAndMetadataAreOfOneMoment() throws Exception {
		SplittableRandom random = Seeds.random("CommitSnapshotTests");
		ExecutorService workers = Executors.newFixedThreadPool(2);
		try {
			for (int round = 0; round < 20; round++) {
				run(workers, random.split());
			}
		}
		finally {
			workers.shutdownNow();
		}
	}

	private static void run(ExecutorService workers, SplittableRandom random) throws Exception {
		Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, (task) -> {
		}, (delivery, slot) -> true, () -> {
		});
		Assignment assignment = Records.assignment(dispatcher);
		Records.range(Records.partition(0), 0, RECORDS)
			.forEach((record) -> assignment.admit(record, RecordContext.DEFAULT, 0));
		AtomicIntegerArray ended = new AtomicIntegerArray(RECORDS);
		CountDownLatch start = new CountDownLatch(1);
		List<Future<?>> tasks = new ArrayList<>();
		for (List<Integer> share : shares(random)) {
			tasks.add(workers.submit(() -> {
				start.await();
				for (int offset : share) {
					ended.set(offset, 1);
					assignment.ledger().settle(offset);
				}
				return null;
			}));
		}
		CommitLog commits = new CommitLog(0, 0);
		commits.assign(assignment.partition(), null);
		start.countDown();
		long watermark = 0;
		while (watermark < RECORDS) {
			assignment.ledger().advance();
			Map<?, OffsetAndMetadata> changes = commits.changes(List.of(assignment));
			for (OffsetAndMetadata commit : changes.values()) {
				check(commit, watermark, ended);
				watermark = commit.offset();
			}
			commits.succeeded(commits.changes(List.of()));
		}
		for (Future<?> task : tasks) {
			task.get(10, TimeUnit.SECONDS);
		}
	}

	private static void check(OffsetAndMetadata commit, long before, AtomicIntegerArray ended) {
		assertThat(commit.offset()).isGreaterThanOrEqualTo(before);
		for (long offset = before; offset < commit.offset(); offset++) {
			assertThat(ended.get((int) offset)).as("ended " + offset).isOne();
		}
		OffsetRanges settled = AckedSetCodec.decode(commit.offset(), commit.metadata()).orElseThrow().settled();
		for (int range = 0; range < settled.size(); range++) {
			for (long offset = settled.first(range); offset <= settled.last(range); offset++) {
				assertThat(ended.get((int) offset)).as("ended " + offset).isOne();
			}
		}
	}

	/** The offsets, nearly in order, in two shares. */
	private static List<List<Integer>> shares(SplittableRandom random) {
		List<List<Integer>> shares = List.of(new ArrayList<>(), new ArrayList<>());
		List<Integer> late = new ArrayList<>();
		for (int offset = 0; offset < RECORDS; offset++) {
			if (random.nextInt(20) == 0) {
				late.add(offset);
			}
			else {
				shares.get(random.nextInt(2)).add(offset);
			}
			if (late.size() > random.nextInt(60)) {
				shares.get(random.nextInt(2)).addAll(late);
				late.clear();
			}
		}
		shares.get(0).addAll(late);
		return shares;
	}

}
