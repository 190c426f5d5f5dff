package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.Ordering;
import io.queuestarter.blockage.BlockageRule;
import io.queuestarter.container.QueueSettings.Batch;
import io.queuestarter.container.QueueSettings.DeadLetterTopic;
import io.queuestarter.container.QueueSettings.Retry;
import io.queuestarter.container.QueueSettings.Timeouts;
import io.queuestarter.container.QueueSettings.Workers;
import io.queuestarter.context.ContextRules;
import io.queuestarter.context.HeaderNames;
import io.queuestarter.context.HeaderNames.Values;
import io.queuestarter.context.RecordContext;
import io.queuestarter.deadletter.TooLarge;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.intake.Foreign;
import io.queuestarter.intake.IntakeLimits;
import io.queuestarter.intake.ZoneRule;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.outage.OutageSettings;
import io.queuestarter.settle.ExceptionPolicy;
import io.queuestarter.settle.Routes.Aside;
import io.queuestarter.testkit.ManualClock;
import io.queuestarter.testkit.Records;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A broker, a group and the processes of one queue, in one thread and in simulated time.
 * All that happens follows from the seed.
 */
final class Simulation {

	private static final int REMEMBERED = 50;

	private static final int MOST_LAG = 150;

	private final long seed;

	private final SplittableRandom random;

	private final ManualClock clock = new ManualClock();

	private final List<SimulatedLog> logs = new ArrayList<>();

	private final List<SimulatedProcess> processes = new ArrayList<>();

	private final QueueSettings settings;

	/** Last steps, as format and arguments. */
	private final ArrayDeque<Object[]> notes = new ArrayDeque<>();

	/** Whether offsets come back: logs lose their tails, operators set the group back. */
	private final boolean disasters;

	private boolean faults = true;

	/** What was found wrong where nobody but the queue would have seen it. */
	private @Nullable AssertionError broken;

	private int generations;

	private int members;

	private int step;

	Simulation(long seed) {
		this.seed = seed;
		this.random = new SplittableRandom(seed);
		this.disasters = happens(30);
		this.settings = settings();
		for (int partition = 0; partition < upTo(3); partition++) {
			this.logs.add(new SimulatedLog(Records.partition(partition)));
		}
		for (int process = 0; process < upTo(2); process++) {
			startProcess();
		}
		rebalance();
	}

	private QueueSettings settings() {
		IntakeLimits limits = new IntakeLimits(oneOf(1, 2, 5, 64, 130), oneOf(2, 10, 100), oneOf(50, 500, 1 << 20),
				oneOf(2, 10, 100), oneOf(50, 500, 1 << 20));
		QueueSettings queue = new QueueSettings("simulated", null,
				Ordering.values()[this.random.nextInt(Ordering.values().length)],
				new Workers(false, oneOf(1, 3, 16), oneOf(0, 1, 4), batch()), limits,
				timeouts(Duration.ofMillis(oneOf(200, 5_000))),
				new OutageSettings(false, "simulated", null, Duration.ofMinutes(5), 1, Duration.ZERO),
				new BlockageRule(false, 0.9, 0.98, 10, Duration.ofMinutes(5), 10), Aside.DLQ,
				new Retry(3, Duration.ZERO, 1, Duration.ZERO, List.of(), null), ExceptionPolicy.RETRY_ALL,
				Duration.ofMillis(oneOf(10, 200, 1_000)),
				new DeadLetterTopic(false, "{topic}-dlq", false, TooLarge.HOLD), Duration.ofMillis(oneOf(0, 20, 500)),
				LaneSettings.NONE, Map.of());
		return happens(50) ? queue.with(lanes(queue)) : queue;
	}

	/** Nobody submits while a worker lingers here: it soon takes what there is. */
	private @Nullable Batch batch() {
		return happens(33) ? new Batch(oneOf(1, 2, 5, 20), Duration.ofNanos(oneOf(0, 1))) : null;
	}

	private static LaneSettings lanes(QueueSettings queue) {
		HeaderNames names = new HeaderNames(SimulatedLog.LANE, Map.of(SimulatedLog.LANE, new Values(List.of(), null)),
				ContextRules.UNKNOWN_LANE);
		List<String> lanes = List.of(RecordContext.DEFAULT_LANE, SimulatedLog.LANE);
		Map<String, QueueSettings> served = new LinkedHashMap<>();
		lanes.forEach((lane) -> served.put(lane, queue));
		return new LaneSettings(new ContextRules(names, lanes, lanes.get(0), lanes, null, null), lanes.get(0), served,
				Foreign.HOLD, null, ZoneRule.NONE);
	}

	private static Timeouts timeouts(Duration timeout) {
		return new Timeouts(new AttemptTimeout(timeout, 2, Duration.ofSeconds(20)), 3, Duration.ofSeconds(1));
	}

	private int oneOf(int... values) {
		return values[this.random.nextInt(values.length)];
	}

	/** Runs so many steps, then lets all faults end and everything come to rest. */
	void run(int steps) {
		try {
			for (this.step = 0; this.step < steps; this.step++) {
				step();
				check();
			}
			comeToRest();
		}
		catch (RuntimeException | AssertionError ex) {
			StringBuilder text = new StringBuilder();
			this.notes.forEach((note) -> text.append("\n  ").append(((String) note[0]).formatted((Object[]) note[1])));
			throw new AssertionError("Life %s fails at step %s, after%s%n%s".formatted(this.seed, this.step, text, ex),
					ex);
		}
	}

	private void step() {
		int choice = upTo(1000);
		if (choice <= 180) {
			produce();
		}
		else if (choice <= 450) {
			anyMember().poll();
			pass(Duration.ofMillis(1));
		}
		else if (choice <= 930) {
			work();
		}
		else if (choice <= 965) {
			pass(Duration.ofMillis(upTo(400)));
		}
		else {
			disturb(choice - 965);
		}
	}

	private void produce() {
		SimulatedLog log = anyLog();
		if (log.lag() > MOST_LAG) {
			return;
		}
		for (int count = upTo(8); count > 0; count--) {
			if (happens(10)) {
				log.skip(upTo(3));
			}
			log.append(upTo(5) - 2, upTo(60));
		}
		if (happens(10)) {
			log.skip(1);
		}
		note("%s ends at %s", log.partition, log.end);
	}

	private void work() {
		SimulatedProcess process = anyProcess();
		switch (upTo(5)) {
			case 1, 2 -> process.runWorker();
			case 3, 4 -> process.answer();
			default -> process.runTimer();
		}
	}

	private void disturb(int choice) {
		switch (choice) {
			case 1, 2, 3, 4, 5, 6, 7 -> rebalance();
			case 8, 9 -> {
				SimulatedMember member = anyMember();
				note("%s is thrown out", member.kafka().name);
				member.kafka().fence();
			}
			case 10, 11, 12 -> anyMember().stop(false);
			case 13, 14 -> replaceMember();
			case 15, 16, 17 -> crash();
			case 18, 19, 20 -> anyMember().wakeUp();
			case 21, 22, 23, 24, 25, 26 -> anyMember().interfere();
			case 27, 28 -> {
				SimulatedLog log = anyLog();
				log.retainFrom(log.start + upTo((int) (log.end - log.start) + 1) - 1);
				note("%s starts at %s", log.partition, log.start);
			}
			case 29, 30 -> anyLog().compact(this.random);
			default -> {
				if (this.disasters) {
					strike(upTo(3));
				}
			}
		}
	}

	private void strike(int choice) {
		SimulatedLog log = anyLog();
		switch (choice) {
			case 1 -> {
				log.truncate(Math.max(log.start, log.end - upTo(30)));
				note("%s loses its tail and ends at %s", log.partition, log.end);
			}
			case 2 -> {
				log.recreate();
				note("%s is created anew", log.partition);
			}
			default -> setGroupOffset(log);
		}
	}

	/** Kafka lets operators do so only while the group is empty. */
	private void setGroupOffset(SimulatedLog log) {
		while (!this.processes.isEmpty()) {
			stopProcess();
		}
		OffsetAndMetadata committed = log.committed;
		OffsetAndMetadata wanted = new OffsetAndMetadata(log.start + upTo((int) (log.end - log.start) + 10) - 1,
				(committed != null && happens(50)) ? committed.metadata() : "hello");
		log.setCommitted(wanted);
		note("%s is set to %s", log.partition, wanted);
		startProcess();
		rebalance();
	}

	private void stopProcess() {
		SimulatedProcess process = anyProcess();
		process.members.forEach((member) -> member.stop(true));
		this.processes.remove(process);
	}

	private void startProcess() {
		SimulatedProcess process = new SimulatedProcess(this, this.settings);
		this.processes.add(process);
		for (int member = 0; member < upTo(2); member++) {
			join(process);
		}
	}

	private void join(SimulatedProcess process) {
		process.members.add(new SimulatedMember("m" + this.members++, this, process.queue()));
	}

	/** Leaves for good; another consumer of the same queue takes its place. */
	private void replaceMember() {
		SimulatedProcess process = anyProcess();
		SimulatedMember member = any(process.members);
		member.stop(true);
		process.members.remove(member);
		join(process);
		rebalance();
	}

	private void crash() {
		SimulatedProcess process = anyProcess();
		note("%s crash", process.members.stream().map((member) -> member.kafka().name).toList());
		process.members.forEach((member) -> member.kafka().crash());
		this.processes.remove(process);
		startProcess();
		rebalance();
	}

	private void rebalance() {
		List<SimulatedMember> all = members();
		for (SimulatedLog log : this.logs) {
			if (happens(60) || all.stream().noneMatch((member) -> member.kafka() == log.target)) {
				log.target = any(all).kafka();
			}
		}
		note("rebalance: %s", this.logs.stream().map((log) -> (log.target != null) ? log.target.name : "").toList());
	}

	void foundWrong(AssertionError error) {
		this.broken = (this.broken != null) ? this.broken : error;
	}

	private void check() {
		if (this.broken != null) {
			throw this.broken;
		}
		for (SimulatedProcess process : this.processes) {
			process.check();
			process.members.forEach(SimulatedMember::check);
		}
	}

	private void comeToRest() {
		this.faults = false;
		this.logs.forEach((log) -> log.append(1, 1));
		members().forEach(SimulatedMember::resumeAll);
		for (int round = 0; round < 5_000 && !(round % 10 == 0 && isAtRest()); round++) {
			pass(Duration.ofMillis(600));
			members().forEach(SimulatedMember::poll);
			for (SimulatedProcess process : this.processes) {
				process.runTimer();
				for (int i = 0; i < 20; i++) {
					process.runWorker();
					process.answer();
				}
			}
			check();
		}
		for (SimulatedLog log : this.logs) {
			assertThat(log.openOffsets()).as("%s open", log.partition).isEmpty();
			assertThat(log.committed).as("%s committed", log.partition).isNotNull();
			assertThat(log.committed.offset()).as("%s committed", log.partition).isEqualTo(log.end);
			// Of a tail that was lost it may still speak.
			assertThat(log.stale || Ownership.settledAbove(log.committed).isEmpty()).isTrue();
		}
		this.processes.forEach(SimulatedProcess::checkIdle);
	}

	/** An operator may have set the group to an offset that was yet to come. */
	private boolean isAtRest() {
		return this.logs.stream()
			.allMatch(
					(log) -> log.committed != null && log.committed.offset() == log.end && log.openOffsets().isEmpty());
	}

	/** What other threads do while one waits. */
	void elsewhere() {
		for (int count = upTo(6); count > 1; count--) {
			work();
		}
		if (fails(3)) {
			anyMember().wakeUp();
		}
	}

	void pass(Duration duration) {
		this.clock.advance(duration);
	}

	ManualClock clock() {
		return this.clock;
	}

	List<SimulatedLog> logs() {
		return this.logs;
	}

	SimulatedLog log(TopicPartition partition) {
		return this.logs.get(partition.partition());
	}

	/** A partition is assigned. */
	Ownership ownership(SimulatedLog log) {
		return new Ownership(log, this.generations++, -1, OffsetRanges.EMPTY);
	}

	/** Its position is set by the application. */
	Ownership successor(Ownership ownership, long position) {
		return new Ownership(ownership.log, ownership.generation, position, OffsetRanges.EMPTY);
	}

	boolean outstandingElsewhere(SimulatedMember member) {
		return members().stream().anyMatch((other) -> other != member && other.outstanding() > 0);
	}

	private List<SimulatedMember> members() {
		return this.processes.stream().flatMap((process) -> process.members.stream()).toList();
	}

	private SimulatedMember anyMember() {
		return any(anyProcess().members);
	}

	private SimulatedProcess anyProcess() {
		return any(this.processes);
	}

	private SimulatedLog anyLog() {
		return any(this.logs);
	}

	private <T> T any(List<T> list) {
		return list.get(this.random.nextInt(list.size()));
	}

	<T> List<T> shuffled(Collection<T> items) {
		List<T> shuffled = new ArrayList<>(items);
		for (int i = shuffled.size(); i > 1; i--) {
			T item = shuffled.remove(this.random.nextInt(i));
			shuffled.add(item);
		}
		return shuffled;
	}

	/** From 1 to the limit. */
	int upTo(int limit) {
		return 1 + this.random.nextInt(limit);
	}

	boolean happens(int percent) {
		return this.random.nextInt(100) < percent;
	}

	/** Whether something goes wrong that may. */
	boolean fails(int percent) {
		return this.faults && happens(percent);
	}

	void note(String format, @Nullable Object... arguments) {
		if (this.notes.size() == REMEMBERED) {
			this.notes.remove();
		}
		this.notes.add(new Object[] { this.step + ": " + format, arguments });
	}

}
