package io.queuestarter.jobs;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;
import io.queuestarter.browse.DeadLetterBrowser;
import io.queuestarter.browse.LetterPage;
import io.queuestarter.browse.LetterSearch;
import io.queuestarter.browse.LetterSource;

/**
 * Looks what jobs would do, and keeps the plans for a while. <em>Thread-safe.</em>
 */
public final class Planner {

	private static final Duration LIFE = Duration.ofMinutes(10);

	private static final int MOST_PLANS = 100;

	private final JobClients clients;

	private final DeadLetterBrowser browser;

	private final int maxMerges;

	private final Clock clock;

	/** Oldest first. Guarded by this. */
	private final Map<String, Plan> plans = new LinkedHashMap<>();

	/**
	 * Creates a planner.
	 * @param clients connect to the cluster
	 * @param browser reads dead letters
	 * @param maxMerges times that a dead letter is merged at most
	 * @param clock tells when plans expire
	 */
	public Planner(JobClients clients, DeadLetterBrowser browser, int maxMerges, Clock clock) {
		this.clients = clients;
		this.browser = browser;
		this.maxMerges = maxMerges;
		this.clock = clock;
	}

	/**
	 * Looks what a job would do, within the limits of a search.
	 * @param queue whose dead letters
	 * @param request what it would be asked to do
	 * @return the plan, which bounds its job by the ends of the logs now
	 */
	public Plan plan(JobQueue queue, JobRequest request) {
		ClusterLook cluster = new ClusterLook(this.clients.admin());
		// Ids first, so that the ends are never those of an older topic.
		Map<String, Uuid> ids = new TopicIds(cluster, queue.deadLetterTopics(), Map.of()).ids();
		Map<TopicPartition, Long> ends = cluster.ends(cluster.partitions(ids.keySet()));
		LetterJudge judge = new LetterJudge(queue, request, this.maxMerges, cluster);
		Count count = new Count(request);
		LetterPage<Boolean> page = this.browser.search(
				new LetterSource(Set.copyOf(queue.deadLetterTopics()), queue.group()),
				new LetterSearch(request.filter(), false, Integer.MAX_VALUE, null),
				(letter, resolved) -> count.add(letter, judge.reasonToStay(letter)));
		Map<String, String> obstacles = new TreeMap<>();
		if (request.isPurgeOfAll()) {
			new PrefixPurge(this.clients.admin())
				.obstacles(ends.keySet().stream().filter(request.filter()::admits).toList())
				.forEach((partition, obstacle) -> obstacles.put(partition.toString(), obstacle));
		}
		Instant now = this.clock.instant();
		Plan plan = new Plan("p" + UUID.randomUUID().toString().substring(0, 8), queue.id(),
				request.until(new PlanEnds(ends, ids)), page.records().size(), page.scanned(), page.complete(),
				count.perException, count.perTarget, count.skipped,
				(request.rate() > 0) ? Duration.ofSeconds(-Math.floorDiv(-count.moves, request.rate())) : null,
				obstacles, now.plus(LIFE));
		keep(plan, now);
		return plan;
	}

	private synchronized void keep(Plan plan, Instant now) {
		this.plans.values().removeIf((other) -> other.expires().isBefore(now));
		if (this.plans.size() >= MOST_PLANS) {
			this.plans.remove(this.plans.keySet().iterator().next());
		}
		this.plans.put(plan.id(), plan);
	}

	/**
	 * A plan that was made before.
	 * @param id its id
	 * @return the plan, unless it has expired
	 */
	public synchronized Optional<Plan> find(String id) {
		return Optional.ofNullable(this.plans.get(id)).filter((plan) -> !plan.expires().isBefore(this.clock.instant()));
	}

	/** Counts of a plan. */
	private static final class Count {

		private final JobRequest request;

		private final Map<String, Long> perException = new TreeMap<>();

		private final Map<String, Long> perTarget = new TreeMap<>();

		private final Map<String, Long> skipped = new TreeMap<>();

		private long moves;

		Count(JobRequest request) {
			this.request = request;
		}

		Boolean add(DeadLetter letter, @Nullable SkipReason reason) {
			if (reason != null) {
				this.skipped.merge(reason.tag(), 1L, Long::sum);
			}
			else if (this.moves < this.request.max()) {
				this.moves++;
				this.perException.merge(letter.kind(), 1L, Long::sum);
				this.perTarget.merge(target(letter), 1L, Long::sum);
			}
			return reason == null;
		}

		private String target(DeadLetter letter) {
			if (this.request.action() == JobAction.PURGE) {
				return letter.partition().topic();
			}
			return (this.request.target().kind() == JobTarget.Kind.SOURCE) ? String.valueOf(letter.originTopic())
					: this.request.target().toString();
		}

	}

}
