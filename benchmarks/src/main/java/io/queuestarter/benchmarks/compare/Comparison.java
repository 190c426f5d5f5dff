package io.queuestarter.benchmarks.compare;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Compares the queue with other ways to consume a topic. All arms run in this process, in
 * turn and beginning with another each round, against one broker in a process of its own.
 * The medians of the rounds after the warm-up count.
 */
public final class Comparison {

	private static final List<String> SHORT = List.of("A", "A-source", "B", "D", "F", "G");

	/** Those that tell how fast the queue is beside others run more often. */
	private static final Set<String> OFTEN = Set.of("A", "B", "C", "D", "E");

	private static final Set<String> VALUES = Set.of("arms", "rounds", "warmups", "factor", "out");

	private final Options options;

	private final Cluster cluster;

	private final Map<String, Arm> arms;

	private int topics;

	private Comparison(Options options, Cluster cluster) {
		this.options = options;
		this.cluster = cluster;
		this.arms = Arms.all(cluster);
	}

	/**
	 * Runs scenarios and prints a table of each.
	 * @param args names of scenarios, none for all; {@code arms=}, names separated by
	 * commas; {@code warmups=} and {@code rounds=}; {@code factor=} for more or fewer
	 * records; {@code out=} for the folder of the report. {@code short} runs a few
	 * scenarios with few records, once; {@code growth} those in which one number grows,
	 * {@code partitions}, {@code in-flight}, {@code bytes} and {@code window} one each;
	 * {@code draw} runs nothing and draws the report that is there. Exits with 1 if an
	 * arm lost a record or did not come to the end
	 */
	public static void main(String[] args) {
		System.setProperty("logging.config", "classpath:logback.xml");
		System.setProperty("java.awt.headless", "true");
		Options options = new Options(args);
		if (options.has("draw")) {
			report(options, Machine.here()).write();
			return;
		}
		boolean complete;
		try (BrokerProcess broker = BrokerProcess.start(); Cluster cluster = new Cluster(broker.address())) {
			complete = new Comparison(options, cluster).run();
		}
		System.exit(complete ? 0 : 1);
	}

	private static Report report(Options options, Machine machine) {
		String folder = options.get("out", options.has("short") ? "comparison-short" : "comparison");
		return new Report(Path.of(folder), machine);
	}

	private boolean run() {
		Machine machine = Machine.here();
		Report report = report(this.options, machine);
		System.out.println(machine);
		boolean complete = true;
		for (Scenario scenario : scenarios()) {
			Result result = run(scenario);
			System.out.println(Table.of(result));
			report.add(result);
			complete &= result.rounds().keySet().stream().allMatch(result::isComplete);
		}
		return complete;
	}

	private List<Scenario> scenarios() {
		this.options.check((name) -> Scenarios.contains(name) || name.equals("short") || name.equals("growth")
				|| Growth.contains(name), VALUES);
		List<Growth> growing = Growth.all()
			.stream()
			.filter((growth) -> this.options.has("growth") || this.options.has(growth.name()))
			.toList();
		if (!growing.isEmpty()) {
			return growing.stream()
				.flatMap((growth) -> growth.points().stream())
				.map((point) -> point.scenario().times(this.options.get("factor", 1.0)))
				.toList();
		}
		boolean brief = this.options.has("short");
		double factor = this.options.get("factor", brief ? 0.05 : 1.0);
		return Scenarios.all()
			.stream()
			.filter((scenario) -> brief ? SHORT.contains(scenario.name()) : this.options.names(scenario.name()))
			.map((scenario) -> scenario.times(factor))
			.map((scenario) -> brief ? scenario.withoutIdle() : scenario)
			.toList();
	}

	private Result run(Scenario scenario) {
		int warmups = this.options.get("warmups", this.options.has("short") ? 0 : 1);
		int usualRounds = OFTEN.contains(scenario.name()) ? 5 : 3;
		int rounds = this.options.get("rounds", this.options.has("short") ? 1 : usualRounds);
		List<String> usual = new ArrayList<>(this.arms.keySet());
		if (this.options.has("short")) {
			usual.removeAll(List.of(Arms.PARALLEL_KEY, Arms.PARALLEL_DEFAULTS));
		}
		Set<String> chosen = Set.of(this.options.get("arms", String.join(",", usual)).split(","));
		if (!this.arms.keySet().containsAll(chosen)) {
			throw new IllegalArgumentException("Arms are " + this.arms.keySet() + ", not " + chosen);
		}
		List<String> turn = new ArrayList<>(scenario.arms());
		turn.retainAll(chosen);
		Result result = new Result(scenario, turn);
		@Nullable String topic = null;
		for (int round = 0; round < warmups + rounds; round++) {
			for (String arm : turn) {
				// What is paced goes into the same topic as the backlog.
				if (topic == null || scenario.load().rate() > 0) {
					topic = scenario.name() + "-" + this.topics++;
					this.cluster.create(topic, scenario.load());
				}
				Measurement measurement = measure(scenario, arm, topic, topic + "-" + arm + "-" + round);
				if (round >= warmups) {
					result.add(arm, measurement);
				}
				System.err.printf("%s %s %s: %s%n", scenario.name(), (round < warmups) ? "warm-up" : "round", arm,
						measurement);
				if (scenario.load().rate() > 0) {
					this.cluster.delete(topic);
				}
			}
			Collections.rotate(turn, 1);
		}
		if (topic != null && scenario.load().rate() == 0) {
			this.cluster.delete(topic);
		}
		return result;
	}

	/** An arm that cannot run has lost everything. */
	private Measurement measure(Scenario scenario, String arm, String topic, String group) {
		try {
			return new Trial(scenario, Objects.requireNonNull(this.arms.get(arm)), this.cluster, topic, group).run();
		}
		catch (RuntimeException ex) {
			ex.printStackTrace();
			return new Measurement(0, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN,
					scenario.load().records(), 0, false);
		}
	}

}
