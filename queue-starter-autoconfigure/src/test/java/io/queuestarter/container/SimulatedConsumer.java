package io.queuestarter.container;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * The Kafka consumer of the simulation, with what may happen to one: rebalances and
 * wake-ups within its calls, positions that are set back, commits that fail, or are
 * applied and said to fail.
 */
final class SimulatedConsumer implements InvocationHandler {

	final String name;

	final Map<TopicPartition, Ownership> owned = new LinkedHashMap<>();

	private final Simulation simulation;

	private final Map<TopicPartition, Long> positions = new HashMap<>();

	private final Set<TopicPartition> paused = new LinkedHashSet<>();

	private final ArrayDeque<Commit> commits = new ArrayDeque<>();

	/** Told what is paused when a poll begins. */
	private final java.util.function.Consumer<Set<TopicPartition>> pauses;

	private @Nullable ConsumerRebalanceListener listener;

	private boolean woken;

	/** Thrown out of the group, and not aware of it. */
	private boolean fenced;

	/** Whether the last synchronous commit was made. */
	private boolean committedLast;

	SimulatedConsumer(String name, Simulation simulation, java.util.function.Consumer<Set<TopicPartition>> pauses) {
		this.name = name;
		this.simulation = simulation;
		this.pauses = pauses;
	}

	@SuppressWarnings("unchecked")
	Consumer<byte[], byte[]> proxy() {
		return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { Consumer.class }, this);
	}

	@Override
	@SuppressWarnings("unchecked")
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) {
		Object first = (args != null) ? args[0] : null;
		Object second = (args != null && args.length > 1) ? args[1] : null;
		switch (method.getName()) {
			case "subscribe" -> this.listener = (ConsumerRebalanceListener) Objects.requireNonNull(second);
			case "poll" -> {
				return poll();
			}
			case "assignment" -> {
				return Set.copyOf(this.owned.keySet());
			}
			case "subscription" -> {
				return Set.of("orders");
			}
			case "paused" -> {
				return Set.copyOf(this.paused);
			}
			case "pause" -> {
				checkOwned((Collection<TopicPartition>) Objects.requireNonNull(first));
				this.paused.addAll((Collection<TopicPartition>) first);
			}
			case "resume" -> {
				checkOwned((Collection<TopicPartition>) Objects.requireNonNull(first));
				this.paused.removeAll((Collection<TopicPartition>) first);
			}
			case "seek" -> seek((TopicPartition) Objects.requireNonNull(first), (long) Objects.requireNonNull(second));
			case "position" -> {
				Long position = this.positions.get((TopicPartition) Objects.requireNonNull(first));
				if (position == null) {
					throw new TimeoutException("Position is not known");
				}
				return position;
			}
			case "currentLag" -> {
				Long position = this.positions.get((TopicPartition) Objects.requireNonNull(first));
				return (position != null) ? OptionalLong.of(log(first).end - position) : OptionalLong.empty();
			}
			case "metrics" -> {
				return Map.of();
			}
			case "committed" -> {
				return committed((Set<TopicPartition>) Objects.requireNonNull(first));
			}
			case "commitAsync" -> commitAsync((Map<TopicPartition, OffsetAndMetadata>) Objects.requireNonNull(first),
					(OffsetCommitCallback) Objects.requireNonNull(second));
			case "commitSync" -> commitSync((Map<TopicPartition, OffsetAndMetadata>) Objects.requireNonNull(first),
					(Duration) Objects.requireNonNull(second));
			case "wakeup" -> this.woken = true;
			case "unsubscribe", "close" -> leave();
			default -> throw new UnsupportedOperationException(method.getName());
		}
		return null;
	}

	private SimulatedLog log(@Nullable Object partition) {
		return this.simulation.log((TopicPartition) Objects.requireNonNull(partition));
	}

	private void checkOwned(Collection<TopicPartition> partitions) {
		if (!this.owned.keySet().containsAll(partitions)) {
			throw new IllegalStateException("No current assignment for all of " + partitions);
		}
	}

	private void seek(TopicPartition partition, long position) {
		checkOwned(List.of(partition));
		this.positions.put(partition, position);
	}

	private void wakeUp() {
		if (this.woken) {
			// The client may throw twice for one wake-up.
			this.woken = this.simulation.happens(5);
			throw new WakeupException();
		}
	}

	private ConsumerRecords<byte[], byte[]> poll() {
		this.pauses.accept(this.paused);
		wakeUp();
		completeCommits(false);
		if (this.simulation.fails(2)) {
			throw new AuthorizationException("Poll fails");
		}
		rebalance();
		Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
		Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
		int room = this.simulation.upTo(20);
		for (Ownership ownership : this.simulation.shuffled(this.owned.values())) {
			TopicPartition partition = ownership.log.partition;
			long position = position(ownership);
			if (!this.paused.contains(partition)) {
				List<ConsumerRecord<byte[], byte[]>> fetched = fetch(ownership.log, position, room);
				if (!fetched.isEmpty()) {
					records.put(partition, fetched);
					room -= fetched.size();
				}
			}
			long reached = this.positions.getOrDefault(partition, position);
			if (reached != position) {
				next.put(partition, new OffsetAndMetadata(reached));
			}
		}
		return new ConsumerRecords<>(records, next);
	}

	private long position(Ownership ownership) {
		SimulatedLog log = ownership.log;
		Long position = this.positions.get(log.partition);
		if (position == null) {
			OffsetAndMetadata committed = log.committed;
			position = (committed != null) ? committed.offset() : -1;
			position = (position < log.start || position > log.end) ? log.start : position;
			ownership.begins(position);
		}
		else if (position < log.start || position > log.end) {
			position = log.start;
		}
		this.positions.put(log.partition, position);
		return position;
	}

	private List<ConsumerRecord<byte[], byte[]>> fetch(SimulatedLog log, long position, int room) {
		List<ConsumerRecord<byte[], byte[]>> fetched = new ArrayList<>();
		for (SimulatedLog.Entry entry : log.entries.tailMap(position).values()) {
			if (fetched.size() == room) {
				return fetched;
			}
			fetched.add(entry.record);
			this.positions.put(log.partition, entry.record.offset() + 1);
		}
		if (this.simulation.happens(70)) {
			this.positions.put(log.partition, log.end);
		}
		return fetched;
	}

	/** The log has lost its tail: the position follows at the next fetch. */
	void truncated(SimulatedLog log) {
		Long position = this.positions.get(log.partition);
		if (position != null && position > log.end) {
			this.positions.put(log.partition, log.end);
		}
		else if (position != null) {
			Ownership ownership = Objects.requireNonNull(this.owned.get(log.partition));
			ownership.stale = true;
			// Unless it has not noticed an earlier loss yet.
			ownership.life += (ownership.life == log.life - 1) ? 1 : 0;
		}
	}

	private void rebalance() {
		ConsumerRebalanceListener callbacks = this.listener;
		if (callbacks == null) {
			return;
		}
		if (this.fenced) {
			lose(callbacks);
		}
		Set<TopicPartition> revoked = new LinkedHashSet<>();
		this.owned.forEach((partition, ownership) -> {
			if (ownership.log.target != this) {
				revoked.add(partition);
			}
		});
		if (!revoked.isEmpty()) {
			this.committedLast = true;
			revoke(callbacks, revoked);
		}
		List<TopicPartition> assigned = new ArrayList<>();
		for (SimulatedLog log : this.simulation.logs()) {
			if (log.target == this && log.owner == null) {
				log.owner = this;
				this.owned.put(log.partition, this.simulation.ownership(log));
				assigned.add(log.partition);
			}
		}
		if (!assigned.isEmpty()) {
			this.simulation.note("%s is assigned %s", this.name, assigned);
			callbacks.onPartitionsAssigned(assigned);
		}
	}

	private void lose(ConsumerRebalanceListener callbacks) {
		this.fenced = false;
		Set<TopicPartition> lost = new LinkedHashSet<>(this.owned.keySet());
		this.simulation.note("%s loses %s", this.name, lost);
		this.owned.values().forEach((ownership) -> ownership.ended = true);
		callbacks.onPartitionsLost(lost);
		forget(lost);
	}

	private void revoke(ConsumerRebalanceListener callbacks, Set<TopicPartition> revoked) {
		this.simulation.note("%s gives up %s", this.name, revoked);
		callbacks.onPartitionsRevoked(revoked);
		for (TopicPartition partition : revoked) {
			Ownership ownership = Objects.requireNonNull(this.owned.get(partition));
			ownership.ended = true;
			ownership.log.owner = null;
			if (this.committedLast) {
				ownership.checkHandedOver();
			}
		}
		forget(revoked);
	}

	private void forget(Set<TopicPartition> partitions) {
		this.owned.keySet().removeAll(partitions);
		this.positions.keySet().removeAll(partitions);
		this.paused.removeAll(partitions);
	}

	/** Is about to leave the group. */
	void leaving() {
		this.committedLast = true;
	}

	/** The group goes on without this member. */
	void fence() {
		this.fenced = true;
		for (Ownership ownership : this.owned.values()) {
			// Others may own it already, if the member is thrown out for the second time.
			if (ownership.log.owner == this) {
				ownership.log.owner = null;
			}
		}
	}

	boolean isFenced() {
		return this.fenced;
	}

	private void leave() {
		completeCommits(true);
		ConsumerRebalanceListener callbacks = this.listener;
		if (callbacks != null && !this.owned.isEmpty()) {
			if (this.fenced) {
				lose(callbacks);
			}
			else {
				revoke(callbacks, new LinkedHashSet<>(this.owned.keySet()));
			}
		}
		this.listener = null;
		this.fenced = false;
	}

	/** The process dies: the broker may have applied what was on its way. */
	void crash() {
		for (Commit commit : this.commits) {
			if (this.simulation.happens(50)) {
				apply(commit);
			}
		}
		fence();
	}

	private Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
		this.simulation.elsewhere();
		wakeUp();
		if (this.simulation.fails(5)) {
			throw new TimeoutException("Committed offsets cannot be read");
		}
		Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
		for (TopicPartition partition : partitions) {
			OffsetAndMetadata offset = log(partition).committed;
			committed.put(partition, offset);
			if (offset != null) {
				Objects.requireNonNull(this.owned.get(partition)).restores(offset);
			}
		}
		return committed;
	}

	private void commitAsync(Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
		if (this.simulation.fails(3)) {
			throw new KafkaException("Commit cannot be sent");
		}
		Commit commit = commit(offsets, callback);
		if (this.simulation.happens(50)) {
			apply(commit);
		}
		this.commits.add(commit);
	}

	private Commit commit(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable OffsetCommitCallback callback) {
		Map<TopicPartition, Ownership> by = new LinkedHashMap<>();
		offsets.forEach((partition, offset) -> {
			Ownership ownership = Objects.requireNonNull(this.owned.get(partition), () -> partition + " is not owned");
			this.simulation.note("%s commits %s %s", this.name, partition, offset);
			ownership.commits(offset);
			by.put(partition, ownership);
		});
		return new Commit(offsets, by, callback);
	}

	private void apply(Commit commit) {
		commit.tried = true;
		for (Ownership by : commit.by.values()) {
			Ownership now = this.owned.get(by.log.partition);
			if (by.log.owner != this || now == null || now.generation != by.generation) {
				return;
			}
		}
		commit.applied = true;
		commit.by.forEach((partition, by) -> by.log.commit(Objects.requireNonNull(commit.offsets.get(partition)), by));
	}

	/** Tells what became of the commits, in their order. */
	private void completeCommits(boolean all) {
		while (!this.commits.isEmpty() && (all || this.simulation.happens(60))) {
			Commit commit = this.commits.remove();
			if (!commit.tried && !this.simulation.fails(10)) {
				apply(commit);
			}
			Exception error = null;
			if (!commit.applied) {
				error = new CommitFailedException();
			}
			else if (this.simulation.fails(10)) {
				error = new TimeoutException("Applied all the same");
			}
			this.simulation.note("%s is told of its commit: %s", this.name, error);
			Objects.requireNonNull(commit.callback).onComplete(commit.offsets, error);
		}
	}

	private void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration limit) {
		completeCommits(true);
		this.simulation.elsewhere();
		Commit commit = commit(offsets, null);
		this.committedLast = false;
		if (this.woken) {
			if (this.simulation.happens(50)) {
				apply(commit);
			}
			wakeUp();
		}
		if (this.simulation.fails(15)) {
			this.simulation.pass(limit);
			if (this.simulation.happens(50)) {
				apply(commit);
			}
			throw new TimeoutException("Commit may be applied or not");
		}
		if (this.simulation.fails(15)) {
			throw new RebalanceInProgressException();
		}
		apply(commit);
		if (!commit.applied) {
			throw new CommitFailedException();
		}
		this.committedLast = true;
	}

	private static final class Commit {

		private final Map<TopicPartition, OffsetAndMetadata> offsets;

		private final Map<TopicPartition, Ownership> by;

		private final @Nullable OffsetCommitCallback callback;

		private boolean tried;

		private boolean applied;

		Commit(Map<TopicPartition, OffsetAndMetadata> offsets, Map<TopicPartition, Ownership> by,
				@Nullable OffsetCommitCallback callback) {
			this.offsets = new HashMap<>(offsets);
			this.by = by;
			this.callback = callback;
		}

	}

}
