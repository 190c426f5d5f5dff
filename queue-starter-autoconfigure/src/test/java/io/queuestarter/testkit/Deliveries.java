package io.queuestarter.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import io.queuestarter.ledger.AckedSet;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;

/**
 * What the journals of all processes say about the deliveries of one topic, in the order
 * of time. <em>Not thread-safe.</em>
 * <p>
 * When a partition is assigned, the records that may be delivered again are those that
 * any process has started and the last acknowledged commit does not cover: they were in
 * flight, or settled since that commit.
 */
public final class Deliveries {

	private final Map<Integer, Long> counted = new HashMap<>();

	private final Map<Integer, Set<Long>> started = new HashMap<>();

	private final Map<Integer, Set<Long>> ended = new HashMap<>();

	/** Last acknowledged commit by partition. */
	private final Map<Integer, DiskJournal.Line> committed = new HashMap<>();

	/** Of each process, by partition. */
	private final Map<Integer, Map<Integer, Takeover>> current = new HashMap<>();

	/** Latest by partition. */
	private final Map<Integer, Takeover> owners = new HashMap<>();

	/** When the last commit was sent, by process and partition. */
	private final Map<List<Integer>, Long> committing = new HashMap<>();

	private final List<DiskJournal.Line> stale = new ArrayList<>();

	private final List<Takeover> takeovers = new ArrayList<>();

	private final List<String> violations = new ArrayList<>();

	private Deliveries() {
	}

	static Deliveries of(List<DiskJournal.Line> lines) {
		Deliveries deliveries = new Deliveries();
		// Stable, so that lines of one process stay in order.
		lines.stream().sorted(Comparator.comparingLong(DiskJournal.Line::micros)).forEach(deliveries::add);
		return deliveries;
	}

	private void add(DiskJournal.Line line) {
		switch (line.event()) {
			case STARTED -> start(line);
			case ENDED -> offsets(this.ended, line.partition()).add(line.offset());
			case COMMITTING -> this.committing.put(List.of(line.process(), line.partition()), line.micros());
			case COMMITTED -> commit(line);
			case ASSIGNED -> assign(line);
			case COUNTED -> this.counted.put(line.process(), line.offset());
			case REVOKED -> this.current.getOrDefault(line.process(), new HashMap<>()).remove(line.partition());
		}
	}

	private void start(DiskJournal.Line line) {
		Takeover takeover = takeover(line);
		if (takeover == null) {
			this.violations.add("Started without an assignment: " + line);
		}
		else if (this.owners.get(line.partition()) != takeover) {
			this.stale.add(line);
		}
		else if (!offsets(this.started, line.partition()).add(line.offset())) {
			takeover.redelivered.add(line.offset());
			takeover.toldRedelivered += takeover.told.remove(line.offset()) ? 1 : 0;
			if (!takeover.inFlight.remove(line.offset()) && !takeover.uncommitted.remove(line.offset())) {
				takeover.beyond.add(line.offset());
			}
		}
	}

	private void commit(DiskJournal.Line line) {
		Takeover takeover = takeover(line);
		Takeover owner = this.owners.get(line.partition());
		if (takeover == null || owner == null) {
			this.violations.add("Committed without an assignment: " + line);
			return;
		}
		if (owner != takeover) {
			// The answer may come late, if the process was frozen.
			long sent = this.committing.getOrDefault(List.of(line.process(), line.partition()), Long.MAX_VALUE);
			if (sent > owner.micros) {
				this.violations.add("Committed for another process: " + line);
			}
			return;
		}
		DiskJournal.Line before = this.committed.put(line.partition(), line);
		if (before != null && before.offset() > line.offset()) {
			this.violations.add("Committed behind " + before + ": " + line);
		}
		Set<Long> settled = offsets(this.ended, line.partition());
		OffsetRanges above = line.settledAbove();
		offsets(this.started, line.partition()).stream()
			.filter((offset) -> offset < line.offset() || above.contains(offset))
			.filter((offset) -> !settled.contains(offset))
			.forEach((offset) -> this.violations.add("Committed " + offset + " before it ended: " + line));
	}

	private void assign(DiskJournal.Line line) {
		Takeover takeover = new Takeover(line.process(), line.partition(), line.micros());
		DiskJournal.Line commit = this.committed.get(line.partition());
		OffsetRanges above = (commit != null) ? commit.settledAbove() : OffsetRanges.EMPTY;
		Set<Long> over = offsets(this.ended, line.partition());
		for (long offset : offsets(this.started, line.partition())) {
			if (commit == null || (offset >= commit.offset() && !above.contains(offset))) {
				(over.contains(offset) ? takeover.uncommitted : takeover.inFlight).add(offset);
			}
		}
		if (commit != null) {
			long begun = AckedSetCodec.decode(commit.offset(), commit.text()).orElse(AckedSet.EMPTY).begun();
			takeover.told.addAll(takeover.uncommitted);
			takeover.told.addAll(takeover.inFlight);
			takeover.told.removeIf((offset) -> offset >= begun);
		}
		takeover.bound = takeover.uncommitted.size() + takeover.inFlight.size();
		this.current.computeIfAbsent(line.process(), (key) -> new HashMap<>()).put(line.partition(), takeover);
		this.owners.put(line.partition(), takeover);
		this.takeovers.add(takeover);
	}

	/** Value of the meter of redelivered records of a process, as it noted it last. */
	public long counted(int process) {
		return this.counted.getOrDefault(process, 0L);
	}

	private @Nullable Takeover takeover(DiskJournal.Line line) {
		return this.current.getOrDefault(line.process(), Map.of()).get(line.partition());
	}

	private static Set<Long> offsets(Map<Integer, Set<Long>> offsets, int partition) {
		return offsets.computeIfAbsent(partition, (key) -> new HashSet<>());
	}

	/** Number of records below the committed offsets. */
	long committed() {
		return this.committed.values().stream().mapToLong(DiskJournal.Line::offset).sum();
	}

	/** Whether a handler has brought the record to an end. */
	public boolean hasEnded(int partition, long offset) {
		return this.ended.getOrDefault(partition, Set.of()).contains(offset);
	}

	/** Partitions that were assigned to the process, and to none after it. */
	List<Integer> ownedBy(int process) {
		return this.owners.values()
			.stream()
			.filter((takeover) -> takeover.process == process
					&& this.current.getOrDefault(process, Map.of()).get(takeover.partition) == takeover)
			.map(Takeover::partition)
			.toList();
	}

	/** Assignments of partitions to processes, in the order of time. */
	public List<Takeover> takeovers() {
		return this.takeovers;
	}

	/** Starts of records whose partition another process had been assigned meanwhile. */
	public List<DiskJournal.Line> stale() {
		return this.stale;
	}

	/** What must not be, whatever happens. */
	public List<String> violations() {
		return this.violations;
	}

	/**
	 * One partition is assigned to a process.
	 */
	public static final class Takeover {

		private final int process;

		private final int partition;

		private final long micros;

		private final Set<Long> inFlight = new TreeSet<>();

		private final Set<Long> uncommitted = new TreeSet<>();

		private final List<Long> redelivered = new ArrayList<>();

		private final List<Long> beyond = new ArrayList<>();

		/** Those in flight or uncommitted that the last commit told of as begun. */
		private final Set<Long> told = new TreeSet<>();

		private int toldRedelivered;

		private int bound;

		Takeover(int process, int partition, long micros) {
			this.process = process;
			this.partition = partition;
			this.micros = micros;
		}

		/** Number of the process. */
		public int process() {
			return this.process;
		}

		/** Number of the partition. */
		public int partition() {
			return this.partition;
		}

		/** When it was assigned. */
		public long micros() {
			return this.micros;
		}

		/** How many records were in flight, or settled since the last commit. */
		public int bound() {
			return this.bound;
		}

		/** Offsets that the process started, and some process before it. */
		public List<Long> redelivered() {
			return this.redelivered;
		}

		/** How many of them the last commit told of as begun. */
		public int toldRedelivered() {
			return this.toldRedelivered;
		}

		/** Those among them that the bound does not allow. */
		public List<Long> beyond() {
			return this.beyond;
		}

		@Override
		public String toString() {
			return "partition " + this.partition + " to process " + this.process + ": " + this.redelivered.size()
					+ " redelivered, " + this.beyond.size() + " of them beyond the bound of " + this.bound;
		}

	}

}
