package io.queuestarter.commit;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.Stage;
import io.queuestarter.dispatch.Dispatcher;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Records;
import io.queuestarter.testkit.Seeds;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the commit log step by step with a broker that applies each commit or not:
 * what differs from the broker is found, what does not is left alone, and the cadence is
 * kept.
 */
class CommitLogModelTests {

	private static final int STEPS = Effort.of(150_000, 15_000_000);

	@Test
	void agreesWithANaiveModel() {
		SplittableRandom random = Seeds.random("CommitLogModelTests");
		int step = 0;
		while (step < STEPS) {
			Model model = new Model(random);
			int end = Math.min(STEPS, step + 1_000);
			for (; step < end; step++) {
				model.step();
			}
		}
	}

	private static final class Model {

		private static final long REPEAT = Duration.ofMillis(100).toNanos();

		private final SplittableRandom random;

		private final long interval;

		private final CommitLog log;

		private final Dispatcher<Delivery> dispatcher = new Dispatcher<>(1, 0, Runnable::run, (task, slot) -> true,
				() -> {
				});

		private final Map<TopicPartition, Assignment> owned = new LinkedHashMap<>();

		/** What the log may believe to be committed. */
		private final Map<TopicPartition, OffsetAndMetadata> known = new HashMap<>();

		/** Records that are not settled. */
		private final Map<TopicPartition, List<Delivery>> open = new HashMap<>();

		private @Nullable Map<TopicPartition, OffsetAndMetadata> inFlight;

		private long now;

		private long last;

		private boolean repeat;

		private int failures;

		/** Sent and not acknowledged. */
		private final Set<TopicPartition> unsure = new HashSet<>();

		Model(SplittableRandom random) {
			this.random = random;
			this.interval = Duration.ofMillis(1 + random.nextInt(400)).toNanos();
			this.log = new CommitLog(this.interval, 0);
		}

		void step() {
			TopicPartition partition = Records.partition(this.random.nextInt(3));
			Assignment assignment = this.owned.get(partition);
			switch (this.random.nextInt(10)) {
				case 0 -> {
					if (assignment == null) {
						assign(partition);
					}
					else {
						close(partition);
					}
				}
				case 1, 2, 3, 4 -> {
					if (assignment != null) {
						progress(partition, assignment);
					}
				}
				case 5, 6 -> commit();
				case 7, 8 -> answer();
				default -> this.now += this.random.nextLong(2 * this.interval);
			}
			check();
		}

		private void assign(TopicPartition partition) {
			OffsetAndMetadata committed = this.random.nextBoolean()
					? new OffsetAndMetadata(this.random.nextInt(100), this.random.nextBoolean() ? "" : "hello") : null;
			ByteBudget budget = new ByteBudget(1 << 20, () -> {
			});
			Assignment assignment = new Assignment(partition, Stage.source(partition.topic()),
					new PartitionLedger<>(20, (committed != null) ? committed.offset() : -1, OffsetRanges.EMPTY), 0, -1,
					LaneQueues.of(this.dispatcher.open(0)), budget, budget, () -> {
					});
			this.owned.put(partition, assignment);
			this.open.put(partition, new ArrayList<>());
			if (committed != null) {
				this.known.put(partition, committed);
			}
			this.log.assign(partition, committed);
		}

		private void close(TopicPartition partition) {
			this.owned.remove(partition);
			this.known.remove(partition);
			this.unsure.remove(partition);
			this.log.close(partition);
		}

		private void progress(TopicPartition partition, Assignment assignment) {
			PartitionLedger<Delivery> ledger = assignment.ledger();
			List<Delivery> deliveries = Objects.requireNonNull(this.open.get(partition));
			if (!ledger.isFull() && this.random.nextBoolean()) {
				long offset = Math.max(0, ledger.next()) + this.random.nextInt(2);
				deliveries.add(assignment.admit(Records.record(partition, offset, 1), RecordContext.DEFAULT, 0));
			}
			else if (!deliveries.isEmpty()) {
				deliveries.remove(this.random.nextInt(deliveries.size())).settle(DeliveryState.QUEUED);
			}
			ledger.advance();
		}

		private void commit() {
			if (this.inFlight == null) {
				Map<TopicPartition, OffsetAndMetadata> changes = changes();
				this.log.attempted(this.now, changes.keySet());
				this.unsure.addAll(changes.keySet());
				this.last = this.now;
				this.repeat = false;
				this.inFlight = changes.isEmpty() ? null : changes;
			}
		}

		private void answer() {
			Map<TopicPartition, OffsetAndMetadata> sent = this.inFlight;
			if (sent == null) {
				return;
			}
			this.inFlight = null;
			if (this.random.nextInt(3) == 0) {
				this.log.failed(Instant.EPOCH);
				this.repeat = true;
				this.failures++;
				return;
			}
			this.log.succeeded(sent);
			this.failures = 0;
			this.unsure.removeAll(sent.keySet());
			sent.forEach((partition, offset) -> {
				if (this.owned.containsKey(partition)) {
					this.known.put(partition, offset);
				}
			});
		}

		private void check() {
			assertThat(this.log.failures()).isEqualTo(this.failures);
			long pause = this.repeat ? Math.min(REPEAT, this.interval) : this.interval;
			assertThat(this.log.nanosUntilDue(this.now))
				.isEqualTo((this.inFlight != null) ? Long.MAX_VALUE : this.last + pause - this.now);
			Map<TopicPartition, OffsetAndMetadata> changes = changes();
			for (Map.Entry<TopicPartition, Assignment> entry : this.owned.entrySet()) {
				TopicPartition partition = entry.getKey();
				OffsetAndMetadata committed = this.known.get(partition);
				assertThat(this.log.committed(partition)).isEqualTo((committed != null) ? committed.offset() : -1);
				long watermark = entry.getValue().ledger().watermark();
				OffsetAndMetadata change = changes.get(partition);
				if (change != null) {
					assertThat(change.offset()).isEqualTo(watermark);
					assertThat(this.unsure.contains(partition) || !change.equals(committed))
						.as("%s changes %s", change, committed)
						.isTrue();
				}
				else if (watermark >= 0) {
					assertThat(this.unsure).doesNotContain(partition);
					assertThat(committed).isNotNull();
					assertThat(committed.offset()).as("unchanged").isEqualTo(watermark);
				}
			}
		}

		private Map<TopicPartition, OffsetAndMetadata> changes() {
			return this.log.changes(this.owned.values());
		}

	}

}
