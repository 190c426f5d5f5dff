package io.queuestarter.testkit;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.apache.kafka.common.TopicPartition;

/**
 * What the handlers of a test did, written down before they return. <em>Thread-safe.</em>
 */
public final class Journal {

	private final ConcurrentLinkedQueue<Run> started = new ConcurrentLinkedQueue<>();

	private final ConcurrentLinkedQueue<Run> finished = new ConcurrentLinkedQueue<>();

	private final Map<TopicPartition, Set<Long>> offsets = new ConcurrentHashMap<>();

	private final Map<TopicPartition, Set<Long>> begun = new ConcurrentHashMap<>();

	/** Where to look for an offset that this journal does not know. */
	private volatile Runnable elsewhere = () -> {
	};

	void start(Run run) {
		this.started.add(run);
		this.begun.computeIfAbsent(run.partition(), (key) -> ConcurrentHashMap.newKeySet()).add(run.offset());
	}

	/**
	 * Names what to do before an offset is said to be open: note what was settled without
	 * a handler.
	 */
	public void lookInto(Runnable notes) {
		this.elsewhere = notes;
	}

	/** Offsets of a partition that were begun at least once. */
	Set<Long> begun(TopicPartition partition) {
		return this.begun.getOrDefault(partition, Set.of());
	}

	void finish(Run run) {
		this.finished.add(run);
		settle(run.partition(), run.offset());
	}

	/** Notes an offset that was settled without a handler: a gap, or a dead letter. */
	public void settle(TopicPartition partition, long offset) {
		this.offsets.computeIfAbsent(partition, (key) -> ConcurrentHashMap.newKeySet()).add(offset);
	}

	/** Forgets which offsets were settled, since the log of the partition begins anew. */
	public void forget(TopicPartition partition) {
		this.offsets.remove(partition);
	}

	/** Whether the offset was settled. */
	public boolean isSettled(TopicPartition partition, long offset) {
		if (isNoted(partition, offset)) {
			return true;
		}
		this.elsewhere.run();
		return isNoted(partition, offset);
	}

	private boolean isNoted(TopicPartition partition, long offset) {
		return this.offsets.getOrDefault(partition, Set.of()).contains(offset);
	}

	/** Lowest offset that is not settled. */
	public long watermark(TopicPartition partition) {
		long watermark = 0;
		while (isSettled(partition, watermark)) {
			watermark++;
		}
		return watermark;
	}

	/** Runs that began, in order. */
	public List<Run> started() {
		return List.copyOf(this.started);
	}

	/** Runs that ended well, in order. */
	public List<Run> finished() {
		return List.copyOf(this.finished);
	}

	/** How often a record was begun. */
	public long starts(TopicPartition partition, long offset) {
		return this.started.stream().filter((run) -> run.isOf(partition, offset)).count();
	}

	/** Number of records that ended well at least once. */
	public int records() {
		return (int) this.finished.stream().map(Run::record).distinct().count();
	}

	/** Runs beyond the first of each record. */
	public int repetitions() {
		return this.started.size() - this.begun.values().stream().mapToInt(Set::size).sum();
	}

	/** Runs that ended well beyond the first of each record. */
	public int duplicates() {
		return this.finished.size() - records();
	}

	/** Offsets of runs, ascending. */
	public static List<Long> offsets(Collection<Run> runs) {
		return runs.stream().map(Run::offset).sorted().toList();
	}

	/**
	 * One call of a handler.
	 *
	 * @param app number of the application, from 0
	 * @param partition partition of the record
	 * @param offset offset of the record
	 */
	public record Run(int app, TopicPartition partition, long offset) {

		boolean isOf(TopicPartition otherPartition, long otherOffset) {
			return this.offset == otherOffset && this.partition.equals(otherPartition);
		}

		String record() {
			return this.partition + "@" + this.offset;
		}

	}

}
