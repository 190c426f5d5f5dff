package io.queuestarter.intake;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.PartitionLedger;

/**
 * Admits the polled records of one consumer to ledger and dispatcher, as far as the
 * bounds allow, and knows which partitions must pause. <em>Consumer thread only.</em>
 * <p>
 * What is polled and cannot be admitted stays pending: at most one poll's records per
 * partition, since a partition with pending records is paused. When there is room,
 * partitions with pending records share it evenly.
 */
public final class Intake {

	private final IntakeLimits limits;

	private final Function<String, Stage> stages;

	private final IntakeLanes lanes;

	private final ByteBudget common;

	private final IntakeCounts counts;

	private final TimeSource time;

	private final Runnable roomListener;

	private final Map<TopicPartition, PartitionIntake> partitions = new LinkedHashMap<>();

	/** Partitions that hold records or are paused by bounds of their own. */
	private final Set<PartitionIntake> busy = new LinkedHashSet<>();

	/** Taken when asked for, until the partitions change. */
	private @Nullable List<Assignment> assignments;

	private int turn;

	private boolean closed;

	/**
	 * Whether the records that wait have reached their limit, and not half of it since.
	 */
	private boolean full;

	/**
	 * Creates the intake of one consumer.
	 * @param limits the bounds
	 * @param stages tells what a topic is for
	 * @param lanes where admitted records go
	 * @param common bytes held by all consumers of the queue
	 * @param counts counts for all consumers of the queue
	 * @param time where the time is read
	 * @param roomListener told by any thread when a bound that may have paused a
	 * partition has room again; must be quick
	 */
	public Intake(IntakeLimits limits, Function<String, Stage> stages, IntakeLanes lanes, ByteBudget common,
			IntakeCounts counts, TimeSource time, Runnable roomListener) {
		this.limits = limits;
		this.stages = stages;
		this.lanes = lanes;
		this.common = common;
		this.counts = counts;
		this.time = time;
		this.roomListener = roomListener;
	}

	/**
	 * Begins a new assignment of a partition.
	 * @param partition the partition
	 * @param watermark offset it continues from, or -1 if the first polled record tells
	 * @param restored what earlier owners have done above it
	 * @param leaderEpoch highest leader epoch of the records that earlier owners polled,
	 * or -1 if not known
	 */
	public void begin(TopicPartition partition, long watermark, AckedSet restored, int leaderEpoch) {
		assign(partition, watermark, restored, leaderEpoch);
	}

	private PartitionIntake assign(TopicPartition partition, long watermark, AckedSet restored, int leaderEpoch) {
		PartitionLedger<Delivery> ledger = new PartitionLedger<>(this.limits.window(), watermark, restored.settled());
		Assignment assignment = new Assignment(partition, this.stages.apply(partition.topic()), ledger,
				restored.begun(), leaderEpoch, this.lanes.open(this.limits.partitionRecords() / 2), this.common,
				new ByteBudget(this.limits.partitionBytes(), this.roomListener), this.roomListener);
		PartitionIntake intake = new PartitionIntake(assignment, this.counts);
		this.partitions.put(partition, intake);
		this.assignments = null;
		return intake;
	}

	/**
	 * Ends the assignment of a partition: what waits for a worker is dropped, what is
	 * pending forgotten. Deliveries under way are left to the caller.
	 * @param partition the partition
	 * @return the assignment, or {@code null} if the partition is not assigned
	 */
	public @Nullable Assignment close(TopicPartition partition) {
		PartitionIntake intake = this.partitions.remove(partition);
		if (intake == null) {
			return null;
		}
		this.busy.remove(intake);
		this.assignments = null;
		this.lanes.close(intake.assignment().queues());
		return intake.assignment();
	}

	/**
	 * Takes over what a poll returned.
	 * @param records the records
	 * @throws IllegalStateException if a partition is not assigned; nothing is taken over
	 */
	public void accept(ConsumerRecords<byte[], byte[]> records) {
		for (TopicPartition partition : records.partitions()) {
			if (!this.partitions.containsKey(partition)) {
				throw new IllegalStateException("Records of '" + partition + "' which is not assigned");
			}
		}
		for (TopicPartition partition : records.partitions()) {
			PartitionIntake intake = Objects.requireNonNull(this.partitions.get(partition));
			List<ConsumerRecord<byte[], byte[]>> polled = records.records(partition);
			if (polled.get(0).offset() < intake.next()) {
				intake = restart(intake, polled.get(0).offset());
			}
			intake.add(polled);
			this.busy.add(intake);
		}
		reached(records.nextOffsets());
	}

	/**
	 * Notes how far a poll came. Not to be called for a poll whose records were not
	 * accepted.
	 * @param positions next offset to fetch by partition
	 */
	public void reached(Map<TopicPartition, OffsetAndMetadata> positions) {
		positions.forEach((partition, position) -> {
			PartitionIntake intake = this.partitions.get(partition);
			if (intake != null) {
				intake.reached(position.offset());
				this.busy.add(intake);
			}
		});
	}

	/**
	 * Offset that the next poll of a partition begins with, if nothing is skipped.
	 * @param partition the partition
	 * @return the offset, or -1 if it is not known or the partition not assigned
	 */
	public long expected(TopicPartition partition) {
		PartitionIntake intake = this.partitions.get(partition);
		return (intake != null) ? intake.expected() : -1;
	}

	/**
	 * The log went back: a reset, a truncation, or a topic that was created anew. What
	 * lies below the offset will not be polled again: settled records stay settled, and
	 * the others run again.
	 */
	private PartitionIntake restart(PartitionIntake old, long offset) {
		TopicPartition partition = old.assignment().partition();
		close(partition);
		List<ConsumerRecord<byte[], byte[]>> below = old.letGo(offset);
		PartitionLedger<Delivery> ledger = old.assignment().ledger();
		long watermark = Math.min(ledger.advance(), offset);
		AckedSet done = new AckedSet(ledger.settledAboveWatermark(), old.assignment().begun());
		PartitionIntake intake = assign(partition, watermark, done.below(offset), -1);
		intake.add(below);
		this.busy.add(intake);
		return intake;
	}

	/**
	 * Says whether anything may be admitted. While nothing may, all partitions are
	 * paused.
	 * @param isClosed {@code true} if what handlers depend on is out of order
	 */
	public void setClosed(boolean isClosed) {
		this.closed = isClosed;
	}

	/**
	 * Moves the watermarks on, admits what there is room for, and decides which
	 * partitions are paused.
	 */
	public void proceed() {
		for (PartitionIntake partition : this.busy) {
			partition.advance();
		}
		admit();
		int waiting = this.lanes.waiting();
		this.full = this.full ? waiting > this.limits.records() / 2 : waiting >= this.limits.records();
		for (PartitionIntake partition : this.busy) {
			partition.setPaused(partition.isPaused() ? !hasRoom(partition) : isFull(partition));
		}
		this.busy.removeIf(PartitionIntake::isIdle);
	}

	private void admit() {
		if (this.closed) {
			return;
		}
		List<PartitionIntake> waiting = new ArrayList<>();
		for (PartitionIntake partition : this.busy) {
			if (partition.hasPending()) {
				waiting.add(partition);
			}
		}
		Collections.rotate(waiting, this.turn++);
		boolean progress = true;
		while (progress && !waiting.isEmpty()) {
			progress = false;
			int share = Math.max(1, (this.limits.records() - this.lanes.waiting()) / waiting.size());
			for (PartitionIntake partition : waiting) {
				progress |= admit(partition, share);
			}
			waiting.removeIf((partition) -> !partition.hasPending());
		}
	}

	private boolean admit(PartitionIntake partition, int share) {
		int room = Math.min(this.limits.records() - this.lanes.waiting(),
				this.limits.partitionRecords() - this.lanes.waiting(partition.assignment().queues()));
		if (room <= 0) {
			return false;
		}
		long before = partition.assignment().ledger().next();
		List<Delivery> admitted = partition.admit(Math.min(share, room), this.lanes, this.time);
		this.lanes.submit(partition.assignment(), admitted, this.time);
		return partition.assignment().ledger().next() != before;
	}

	private boolean isFull(PartitionIntake partition) {
		Assignment assignment = partition.assignment();
		return partition.hasPending() || assignment.ledger().isFull() || assignment.isOverBytes()
				|| this.lanes.waiting(assignment.queues()) >= this.limits.partitionRecords();
	}

	private boolean hasRoom(PartitionIntake partition) {
		Assignment assignment = partition.assignment();
		return !partition.hasPending() && !assignment.ledger().isFull() && !assignment.isOverBytes()
				&& this.lanes.waiting(assignment.queues()) <= this.limits.partitionRecords() / 2;
	}

	/** Whether all partitions are paused, whatever their own bounds. */
	private boolean isShut() {
		return this.closed || this.full;
	}

	/**
	 * Partitions that must not be fetched now.
	 * @return the partitions
	 */
	public List<TopicPartition> paused() {
		if (isShut()) {
			return List.copyOf(this.partitions.keySet());
		}
		List<TopicPartition> paused = new ArrayList<>();
		for (PartitionIntake partition : this.busy) {
			if (partition.isPaused()) {
				paused.add(partition.assignment().partition());
			}
		}
		return paused;
	}

	/**
	 * Whether a partition must not be fetched now.
	 * @param partition the partition
	 * @return {@code true} if it is paused by its bounds
	 */
	public boolean isPaused(TopicPartition partition) {
		PartitionIntake intake = this.partitions.get(partition);
		return intake != null && (isShut() || intake.isPaused());
	}

	/**
	 * The assignments of this consumer.
	 * @return the assignments
	 */
	public Collection<Assignment> assignments() {
		List<Assignment> current = this.assignments;
		if (current == null) {
			current = this.partitions.values().stream().map(PartitionIntake::assignment).toList();
			this.assignments = current;
		}
		return current;
	}

	/**
	 * Partitions assigned to this consumer.
	 * @return the partitions
	 */
	public Collection<TopicPartition> partitions() {
		return List.copyOf(this.partitions.keySet());
	}

	/**
	 * Time until a record that rests is to be handled.
	 * @return the nanoseconds, {@link Long#MAX_VALUE} if none rests
	 */
	public long nanosUntilDue() {
		long nowNanos = this.time.nanoTime();
		long least = Long.MAX_VALUE;
		for (PartitionIntake partition : this.busy) {
			least = Math.min(least, partition.nanosUntilDue(nowNanos));
		}
		return least;
	}

	/**
	 * Time until the next record of a partition is to be handled.
	 * @param partition the partition
	 * @return the nanoseconds, {@link Long#MAX_VALUE} if none of it rests
	 */
	public long nanosUntilDue(TopicPartition partition) {
		PartitionIntake intake = this.partitions.get(partition);
		return (intake != null) ? intake.nanosUntilDue(this.time.nanoTime()) : Long.MAX_VALUE;
	}

	/**
	 * Whether a partition is paused that may go on at any moment, when others have ended.
	 * @return {@code false} also if all that is paused waits for a record to become due
	 */
	public boolean isShortOfRoom() {
		if (isShut() && this.busy.size() < this.partitions.size()) {
			return true;
		}
		long nowNanos = this.time.nanoTime();
		for (PartitionIntake partition : this.busy) {
			if ((isShut() || partition.isPaused()) && partition.nanosUntilDue(nowNanos) == Long.MAX_VALUE) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Whether every assigned partition is paused, and there is at least one.
	 * @return {@code true} if a fetch could bring nothing
	 */
	public boolean isAllPaused() {
		if (this.partitions.isEmpty() || isShut()) {
			return !this.partitions.isEmpty();
		}
		return this.busy.size() == this.partitions.size() && this.busy.stream().allMatch(PartitionIntake::isPaused);
	}

}
