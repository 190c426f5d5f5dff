package io.queuestarter.benchmarks.compare;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * One arm in one round: starts it, waits for its end, and measures in between. The rate
 * and the costs are those of the middle eight tenths of a backlog, or of the time in
 * which records are paced.
 */
final class Trial {

	private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long COMMIT_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(15);

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(6);

	private final Scenario scenario;

	private final Arm arm;

	private final Cluster cluster;

	private final Records records;

	private final Probe probe;

	private final long limitNanos;

	Trial(Scenario scenario, Arm arm, Cluster cluster, String topic, String group) {
		this.scenario = scenario;
		this.arm = arm;
		this.cluster = cluster;
		this.records = scenario.load().broker() ? new BrokerRecords(cluster, topic, group, scenario.load())
				: new GeneratedRecords(cluster, topic, group, scenario.load());
		this.probe = new Probe(scenario);
		double expected = scenario.load().records() / Math.min(scenario.possible(), 100_000)
				+ scenario.handlers().slowMillis() / 1e3;
		this.limitNanos = TimeUnit.SECONDS.toNanos(20) + (long) (10e9 * expected);
	}

	Measurement run() {
		System.gc();
		try (Arm.Running running = this.arm.start(this.scenario, this.records, this.probe)) {
			return (this.scenario.load().rate() > 0) ? paced(running) : backlog(running);
		}
	}

	private Measurement backlog(Arm.Running running) {
		int all = this.scenario.load().awaited();
		await(() -> this.probe.ended() >= 0.1 * all, this.limitNanos);
		long soundBefore = this.probe.sound();
		long endedBefore = this.probe.ended();
		Cost before = Cost.now();
		await(() -> this.probe.ended() >= 0.9 * all, this.limitNanos);
		long sound = this.probe.sound() - soundBefore;
		long ended = this.probe.ended() - endedBefore;
		Cost after = Cost.now();
		await(() -> this.probe.ended() >= all, this.limitNanos);
		return measurement(running, before, after, sound, ended);
	}

	private Measurement paced(Arm.Running running) {
		Load load = this.scenario.load();
		// Those of a hot partition stay while others are paced.
		IntUnaryOperator keys = load.keys().byNumber();
		long first = load.hot() ? 1 : load.backlog();
		await(() -> this.probe.ended() >= first, this.limitNanos);
		long before = this.probe.ended();
		Cost start;
		try (KafkaProducer<byte[], byte[]> producer = this.cluster.producer()) {
			// What it does first takes longer than what is measured.
			producer.partitionsFor(this.records.topic());
			start = Cost.now();
			for (int i = 0; i < load.paced(); i++) {
				long intended = start.nanos() + (i + 1) * TimeUnit.SECONDS.toNanos(1) / load.rate();
				for (long left = 1; left > 0; left = intended - System.nanoTime()) {
					LockSupport.parkNanos(left);
				}
				int number = load.backlog() + i;
				producer.send(new ProducerRecord<>(this.records.topic(), load.partitionOf(number),
						Cluster.key(keys.applyAsInt(number)), Probe.value(number, intended, load.valueBytes())));
			}
		}
		Cost end = Cost.now();
		long ended = this.probe.ended() - before;
		await(() -> this.probe.pacedEnded() >= load.paced(), this.limitNanos);
		return measurement(running, start, end, ended, ended);
	}

	private Measurement measurement(Arm.Running running, Cost before, Cost after, long sound, long ended) {
		Load load = this.scenario.load();
		long lost = load.hot() ? load.paced() - this.probe.pacedEnded() : load.awaited() - this.probe.ended();
		boolean committed = !load.isAllAwaited() || (lost == 0 && await(running::isCommitted, COMMIT_LIMIT_NANOS));
		double idle = (this.scenario.idle() && committed) ? idle() : Double.NaN;
		double records = Math.max(1, ended);
		long[] delays = this.probe.delays();
		return new Measurement(sound * 1e9 / Math.max(1, after.nanos() - before.nanos()),
				(after.cpuNanos() - before.cpuNanos()) / 1e3 / records, (after.bytes() - before.bytes()) / records,
				quantile(delays, 0.5), quantile(delays, 0.99), quantile(delays, 1), idle, lost, this.probe.duplicates(),
				committed);
	}

	private static double idle() {
		LockSupport.parkNanos(IDLE_NANOS / 6);
		Cost before = Cost.now();
		for (long left = IDLE_NANOS; left > 0; left = before.nanos() + IDLE_NANOS - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
		Cost after = Cost.now();
		return (double) (after.cpuNanos() - before.cpuNanos()) / (after.nanos() - before.nanos());
	}

	private static double quantile(long[] sorted, double part) {
		if (sorted.length == 0) {
			return Double.NaN;
		}
		int index = (int) Math.ceil(part * sorted.length) - 1;
		return sorted[Math.max(0, index)] / 1e6;
	}

	private static boolean await(BooleanSupplier condition, long limitNanos) {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start > limitNanos) {
				return false;
			}
			LockSupport.parkNanos(LOOK_NANOS);
		}
		return true;
	}

}
