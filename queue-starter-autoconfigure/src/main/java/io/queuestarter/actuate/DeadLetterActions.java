package io.queuestarter.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.queuestarter.browse.InvalidParameterException;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.Edit;
import io.queuestarter.jobs.JobAction;
import io.queuestarter.jobs.JobRequest;
import io.queuestarter.jobs.JobRunningException;
import io.queuestarter.jobs.JobTarget;
import io.queuestarter.jobs.JobView;
import io.queuestarter.jobs.Plan;
import io.queuestarter.jobs.Planner;

/**
 * Makes plans and jobs of what operators ask for. Nothing is begun before all of it was
 * understood. <em>Thread-safe.</em>
 */
public final class DeadLetterActions {

	private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

	private static final List<String> ACTIONS = List.of("merge", "purge", "replay");

	private final Queues queues;

	private final DeadLetterJobs jobs;

	private final Planner planner;

	private final int mergeRate;

	/** By plan, so that a repeated request starts no second job. */
	private final Map<String, CarriedOut> carriedOut = new ConcurrentHashMap<>();

	/**
	 * Creates the actions.
	 * @param queues the queues
	 * @param jobs runs jobs
	 * @param planner looks what they would do
	 * @param mergeRate dead letters merged a second unless asked otherwise, 0 for no
	 * limit
	 */
	public DeadLetterActions(Queues queues, DeadLetterJobs jobs, Planner planner, int mergeRate) {
		this.queues = queues;
		this.jobs = jobs;
		this.planner = planner;
		this.mergeRate = mergeRate;
	}

	/**
	 * Who asks.
	 * @param context what the web or JMX knows of it
	 * @return a name
	 */
	static String nameOf(@Nullable SecurityContext context) {
		return (context != null && context.getPrincipal() != null) ? context.getPrincipal().getName() : "anonymous";
	}

	WebEndpointResponse<?> act(Queue queue, Map<String, @Nullable String> given, @Nullable SecurityContext user) {
		ActionParameters parameters = new ActionParameters(given);
		JobAction action = action(parameters.required("action", ACTIONS));
		boolean dryRun = parameters.flag("dryRun", true);
		String planId = parameters.text("planId");
		if (planId != null && !dryRun) {
			return carryOut(queue, action, planId, parameters, user);
		}
		if (planId != null) {
			throw new InvalidParameterException("planId", planId, List.of("with \"dryRun\": false only"));
		}
		JobRequest request = request(queue, action, parameters, nameOf(user));
		if (dryRun) {
			return new WebEndpointResponse<>(Planned.of(this.planner.plan(queue, request), sharers(queue, request)));
		}
		Problem problem = unconfirmed(queue, request, parameters.text("confirm"));
		return (problem != null) ? problem.response() : start(queue, request);
	}

	private static JobAction action(String text) {
		if (!ACTIONS.contains(text.toLowerCase(Locale.ROOT))) {
			throw new InvalidParameterException("action", text, ACTIONS);
		}
		return JobAction.valueOf(text.toUpperCase(Locale.ROOT));
	}

	private JobRequest request(Queue queue, JobAction action, ActionParameters parameters, String by) {
		LetterFilter filter = parameters.filter(queue);
		int rate = (int) parameters.number("rate", (action == JobAction.MERGE) ? this.mergeRate : 0, 0, 1_000_000);
		long max = parameters.number("max", Long.MAX_VALUE, 1, Long.MAX_VALUE);
		Edit edit = null;
		if (action == JobAction.REPLAY) {
			edit = parameters.edit();
			max = 1;
			parameters.requireOneLetter(queue);
		}
		else {
			parameters.refuse("only for action replay", "value", "headers");
		}
		if (action == JobAction.PURGE) {
			parameters.refuse("not for action purge", "target");
		}
		return new JobRequest(action, filter, target(queue, action, parameters.text("target", "handler")), rate, max,
				edit, null, by, parameters.text("reason"));
	}

	private JobTarget target(Queue queue, JobAction action, String text) {
		return switch (text) {
			case "handler" -> JobTarget.HANDLER;
			case "source" -> JobTarget.SOURCE;
			default -> {
				if (action == JobAction.REPLAY || queue.deadLetterTopics().contains(text)
						|| !TOPIC.matcher(text).matches() || !this.jobs.exists(text)) {
					throw new InvalidParameterException("target", text,
							(action == JobAction.REPLAY) ? List.of("handler", "source") : List.of("handler", "source",
									"the name of a topic that exists and is no dead-letter topic of this queue"));
				}
				yield JobTarget.topic(text);
			}
		};
	}

	/** What concerns everything is not begun by a slip of the hand. */
	private @Nullable Problem unconfirmed(Queue queue, JobRequest request, @Nullable String confirm) {
		Map<String, String> sharers = sharers(queue, request);
		if (!sharers.isEmpty()) {
			return Problem.of("queue/shared-topic", "Others have dead letters there", 409,
					"A purge of all deletes what lies in the topic: " + sharers + ".",
					"Purge with a filter, which marks the dead letters of this queue as resolved.");
		}
		if (request.action() != JobAction.PURGE && !request.isOfAll()) {
			return null;
		}
		String expected = confirmation(queue, request);
		return expected.equals(confirm) ? null
				: new Problem("queue/confirm", "Please confirm", 409,
						(request.action() == JobAction.PURGE) ? "A purge is final."
								: "No filter took effect: all dead letters are meant.",
						"Send \"confirm\": \"" + expected + "\" to go on.", List.of(expected));
	}

	/** Topics of which a purge deletes dead letters of other queues, too. */
	private Map<String, String> sharers(Queue queue, JobRequest request) {
		Map<String, String> sharers = new TreeMap<>();
		if (request.isPurgeOfAll()) {
			String only = request.filter().topic();
			for (Queue other : this.queues.all()) {
				other.deadLetterTopics()
					.stream()
					.filter((topic) -> other != queue && queue.deadLetterTopics().contains(topic)
							&& (only == null || only.equals(topic)))
					.forEach((topic) -> sharers.merge(topic, "holds dead letters of queue '" + other.id() + "'",
							(first, second) -> first + ", " + second));
			}
		}
		return sharers;
	}

	/**
	 * The topic, or the queue if several topics are meant. Another word where records are
	 * deleted, so that a script that means to mark some never does.
	 */
	private static String confirmation(Queue queue, JobRequest request) {
		String topic = request.filter().topic();
		Set<String> topics = queue.deadLetterTopics();
		String name = (topic != null) ? topic : (topics.size() == 1) ? topics.iterator().next() : queue.id();
		return request.isPurgeOfAll() ? "delete " + name : name;
	}

	private WebEndpointResponse<?> carryOut(Queue queue, JobAction action, String planId, ActionParameters parameters,
			@Nullable SecurityContext user) {
		parameters.refuse("the plan's, with planId", "target", "rate", "max", "value", "headers");
		parameters.refuseFilters("the plan's, with planId");
		Optional<Plan> plan = this.planner.find(planId)
			.filter((found) -> found.queue().equals(queue.id()) && found.request().action() == action);
		if (plan.isEmpty()) {
			return Problem
				.of("queue/unknown-plan", "No such plan", 404,
						"There is no plan '" + planId
								+ "' of this action and queue on this instance, or it has expired.",
						"Make one with \"dryRun\": true; it lives for 10 minutes.")
				.response();
		}
		JobRequest request = plan.get().request().by(nameOf(user), parameters.text("reason"));
		Problem problem = unconfirmed(queue, request, parameters.text("confirm"));
		if (problem != null) {
			return problem.response();
		}
		this.carriedOut.keySet().removeIf((other) -> this.planner.find(other).isEmpty());
		return this.carriedOut.computeIfAbsent(planId, CarriedOut::new).answer(() -> start(queue, request));
	}

	private WebEndpointResponse<?> start(Queue queue, JobRequest request) {
		try {
			return accepted(this.jobs.start(queue, request));
		}
		catch (JobRunningException ex) {
			return Problem.jobRunning(ex).response();
		}
	}

	private static WebEndpointResponse<Started> accepted(JobView job) {
		return new WebEndpointResponse<>(new Started(job), 202);
	}

	/**
	 * A plan that is carried out once. Starting a job asks the broker and calls
	 * listeners, so whoever waits here waits for this plan only.
	 */
	private final class CarriedOut {

		private final String plan;

		@GuardedBy("this")
		private @Nullable String job;

		CarriedOut(String plan) {
			this.plan = plan;
		}

		synchronized WebEndpointResponse<?> answer(Supplier<WebEndpointResponse<?>> start) {
			String before = this.job;
			if (before != null) {
				return DeadLetterActions.this.jobs.find(before)
					.<WebEndpointResponse<?>>map(DeadLetterActions::accepted)
					.orElseGet(() -> forgotten(before));
			}
			WebEndpointResponse<?> response = start.get();
			if (response.getBody() instanceof Started begun) {
				this.job = begun.job().id();
			}
			return response;
		}

		private WebEndpointResponse<?> forgotten(String before) {
			return Problem
				.of("queue/plan-carried-out", "The plan was carried out", 409,
						"Job '" + before + "' carried plan '" + this.plan + "' out, and is forgotten by now.",
						"Make another plan with \"dryRun\": true.")
				.response();
		}

	}

	/**
	 * Answer when a job was started.
	 *
	 * @param job the job
	 */
	public record Started(JobView job) {

	}

	/**
	 * Answer of a dry run.
	 *
	 * @param action what was asked for
	 * @param filter the filter as it was understood
	 * @param target where dead letters would go, or {@code null} for a purge
	 * @param deletes whether a purge would delete records, rather than mark them as
	 * resolved
	 * @param plan what would be done
	 * @param planId id by which it can be done
	 * @param expiresAt time until which it can
	 */
	public record Planned(String action, Map<String, Object> filter, @Nullable String target, boolean deletes,
			Counts plan, String planId, Instant expiresAt) {

		static Planned of(Plan plan, Map<String, String> sharers) {
			JobRequest request = plan.request();
			Map<String, String> obstacles = new TreeMap<>(plan.obstacles());
			obstacles.putAll(sharers);
			return new Planned(request.action().name().toLowerCase(Locale.ROOT), request.filter().understood(),
					(request.action() != JobAction.PURGE) ? request.target().toString() : null, request.isPurgeOfAll(),
					new Counts(plan.matched(), plan.scanned(), plan.complete(), plan.perException(), plan.perTarget(),
							plan.skipped(), plan.estimated(), obstacles),
					plan.id(), plan.expires());
		}

	}

	/**
	 * What a job would do.
	 *
	 * @param matched dead letters that match and are not resolved
	 * @param scanned dead letters read
	 * @param complete whether all were read; if not, the counts are too small
	 * @param perException how many would be taken, by exception
	 * @param perTarget how many would be taken, by target
	 * @param skipped how many would stay although they match, by reason
	 * @param estimated time it takes at the rate asked for, if there is one
	 * @param obstacles what keeps records from being deleted, by partition or topic
	 */
	public record Counts(long matched, long scanned, boolean complete, Map<String, Long> perException,
			Map<String, Long> perTarget, Map<String, Long> skipped, @Nullable Duration estimated,
			Map<String, String> obstacles) {

	}

}
