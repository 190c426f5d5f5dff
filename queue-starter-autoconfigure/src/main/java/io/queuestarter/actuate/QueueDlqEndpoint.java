package io.queuestarter.actuate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.queuestarter.browse.DeadLetterBrowser;
import io.queuestarter.browse.InvalidParameterException;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.browse.LetterPage;
import io.queuestarter.browse.LetterSearch;
import io.queuestarter.browse.LetterSource;
import io.queuestarter.browse.SearchSettings;
import io.queuestarter.browse.SourceOverview;
import io.queuestarter.browse.TopicOverview;
import io.queuestarter.container.Queue;
import io.queuestarter.container.Queues;
import io.queuestarter.context.ContextRules;

/**
 * Endpoint {@code queuedlq}: the dead letters of the queues of this process. Reading
 * commits nothing, and joins no group.
 */
@Endpoint(id = "queuedlq", defaultAccess = Access.READ_ONLY)
public class QueueDlqEndpoint {

	private static final int SHORT = 1024;

	private static final int LONG = 64 * 1024;

	private final Queues queues;

	private final DeadLetterBrowser browser;

	private final PayloadAccess access;

	private final DeadLetterActions actions;

	/**
	 * Creates the endpoint.
	 * @param queues the queues
	 * @param browser who reads dead letters
	 * @param access who is shown what they carry
	 * @param actions merges and purges them
	 */
	public QueueDlqEndpoint(Queues queues, DeadLetterBrowser browser, PayloadAccess access, DeadLetterActions actions) {
		this.queues = queues;
		this.browser = browser;
		this.access = access;
		this.actions = actions;
	}

	/**
	 * What lies in the dead-letter topics of all queues.
	 * @return one overview a queue
	 */
	@ReadOperation
	public WebEndpointResponse<Overview> overview() {
		List<Queue> all = List.copyOf(this.queues.all());
		List<SourceOverview> found = this.browser.overview(all.stream().map(QueueDlqEndpoint::source).toList());
		List<QueueOverview> overviews = new ArrayList<>();
		for (int i = 0; i < all.size(); i++) {
			SourceOverview overview = found.get(i);
			overviews
				.add(new QueueOverview(all.get(i).id(), all.get(i).group(), overview.topics(), overview.problem()));
		}
		return new WebEndpointResponse<>(new Overview(overviews));
	}

	/**
	 * Looks for dead letters of a queue. A parameter that is not given does not restrict.
	 * @param id id of the queue
	 * @param exception class of the exception or of its cause, with its package or
	 * without
	 * @param reason why they were dead-lettered
	 * @param header {@code name=value}, or {@code name} to be there
	 * @param key text of the key
	 * @param contains text in the value; only if payloads are shown
	 * @param topic dead-letter topic
	 * @param partition its partition
	 * @param offsets partitions and offsets or ranges: {@code 0@88,0@90-120}
	 * @param from time from which on they were dead-lettered
	 * @param to time before which they were
	 * @param lane lane of their record
	 * @param resolved {@code include} to see those that were merged or purged, too
	 * @param limit largest number of dead letters in the answer
	 * @param cursor where to go on: {@code nextCursor} of an answer
	 * @param securityContext who asks
	 * @return what was found, or a problem
	 */
	@ReadOperation
	public WebEndpointResponse<?> search(@Selector String id, @Nullable String exception, @Nullable String reason,
			@Nullable String header, @Nullable String key, @Nullable String contains, @Nullable String topic,
			@Nullable String partition, @Nullable String offsets, @Nullable String from, @Nullable String to,
			@Nullable String lane, @Nullable String resolved, @Nullable String limit, @Nullable String cursor,
			SecurityContext securityContext) {
		return withLetters(id, (queue) -> {
			boolean shown = this.access.isShownTo(securityContext);
			Problem hidden = hidden(contains, securityContext);
			if (hidden != null) {
				return hidden.response();
			}
			LetterFilter filter = LetterFilter.parse(named("exception", exception, "reason", reason, "header", header,
					"key", key, "contains", contains, "topic", known(queue, topic), "partition", partition, "offsets",
					offsets, "from", from, "to", to, "lane", lane), rulesOf(queue));
			LetterSearch search = new LetterSearch(filter, includes(resolved), pageSize(limit), given(cursor));
			LetterPage<LetterDetail> page = this.browser.search(source(queue), search,
					new LetterRenderer(id, rulesOf(queue), shown, this.access.masks(), SHORT));
			return new WebEndpointResponse<>(new Found(filter.understood(), page.records(), page.scanned(),
					page.records().size(), page.complete(), page.nextCursor(), page.stoppedBy().tag()));
		});
	}

	/**
	 * Shows one dead letter.
	 * @param id id of the queue
	 * @param partition partition of the dead-letter topic
	 * @param offset offset there
	 * @param topic the dead-letter topic, if the queue has several
	 * @param securityContext who asks
	 * @return the dead letter, or a problem
	 */
	@ReadOperation
	public WebEndpointResponse<?> find(@Selector String id, @Selector String partition, @Selector String offset,
			@Nullable String topic, SecurityContext securityContext) {
		return withLetters(id, (queue) -> {
			String chosen = known(queue, topic);
			Set<String> topics = new TreeSet<>(queue.deadLetterTopics());
			if (chosen == null && topics.size() != 1) {
				return new Problem("queue/ambiguous-topic", "Which topic?", 400,
						"Queue '" + id + "' has " + topics.size() + " dead-letter topics.",
						"Say which one with parameter 'topic'.", List.copyOf(topics))
					.response();
			}
			TopicPartition place = new TopicPartition((chosen != null) ? chosen : topics.iterator().next(),
					(int) number("partition", partition, 9));
			Optional<LetterDetail> letter = this.browser.find(source(queue), place, number("offset", offset, 18),
					new LetterRenderer(id, rulesOf(queue), this.access.isShownTo(securityContext), this.access.masks(),
							LONG));
			return letter.<WebEndpointResponse<?>>map(WebEndpointResponse::new)
				.orElseGet(() -> Problem
					.of("queue/no-record", "No such dead letter", 404,
							"There is no record at " + place + "@" + offset + ", or none any more.", null)
					.response());
		});
	}

	/**
	 * Merges, purges or replays dead letters: tells what would be done, or starts a job.
	 * @param id id of the queue
	 * @param action {@code merge}, {@code purge} or {@code replay}
	 * @param dryRun {@code true}, the default, to be told what would be done
	 * @param planId plan of a dry run that is to be carried out
	 * @param target where merged ones go: {@code handler}, the default, {@code source},
	 * or a topic
	 * @param rate largest number merged a second, 0 for no limit
	 * @param max largest number taken
	 * @param value new value of the one that is replayed
	 * @param headers new headers of it: {@code name=value}, or {@code name} to take one
	 * out, one a line
	 * @param reason why, for the audit trail
	 * @param confirm name of the topic, where everything is meant
	 * @param exception like that of a search
	 * @param deadLetterReason like {@code reason} of a search
	 * @param header like that of a search
	 * @param key like that of a search
	 * @param contains like that of a search
	 * @param topic like that of a search
	 * @param partition like that of a search
	 * @param offsets like that of a search
	 * @param from like that of a search
	 * @param to like that of a search
	 * @param lane like that of a search
	 * @param securityContext who asks
	 * @return a plan, a job, or a problem
	 */
	@WriteOperation
	public WebEndpointResponse<?> act(@Selector String id, @Nullable String action, @Nullable String dryRun,
			@Nullable String planId, @Nullable String target, @Nullable String rate, @Nullable String max,
			@Nullable String value, @Nullable String headers, @Nullable String reason, @Nullable String confirm,
			@Nullable String exception, @Nullable String deadLetterReason, @Nullable String header,
			@Nullable String key, @Nullable String contains, @Nullable String topic, @Nullable String partition,
			@Nullable String offsets, @Nullable String from, @Nullable String to, @Nullable String lane,
			@Nullable SecurityContext securityContext) {
		return withLetters(id, (queue) -> {
			Problem hidden = hidden(contains, securityContext);
			if (hidden != null) {
				return hidden.response();
			}
			return this.actions.act(queue,
					named("action", action, "dryRun", dryRun, "planId", planId, "target", target, "rate", rate, "max",
							max, "value", value, "headers", headers, "reason", reason, "confirm", confirm, "exception",
							exception, "deadLetterReason", deadLetterReason, "header", header, "key", key, "contains",
							contains, "topic", topic, "partition", partition, "offsets", offsets, "from", from, "to",
							to, "lane", lane),
					securityContext);
		});
	}

	/** Names and values in turn. */
	private static Map<String, @Nullable String> named(@Nullable String... parts) {
		Map<String, @Nullable String> named = new HashMap<>();
		for (int i = 0; i < parts.length; i += 2) {
			named.put(String.valueOf(parts[i]), parts[i + 1]);
		}
		return named;
	}

	private @Nullable Problem hidden(@Nullable String contains, @Nullable SecurityContext user) {
		boolean shown = user != null && this.access.isShownTo(user);
		return (shown || contains == null || contains.isBlank()) ? null
				: Problem.of("queue/payloads-hidden", "Payloads are hidden", 403,
						"'contains' would tell what the payloads hold, which are hidden from you.",
						"See kafka-queue.dlq.show-payloads.");
	}

	private WebEndpointResponse<?> withLetters(String id, Function<Queue, WebEndpointResponse<?>> answer) {
		Optional<Queue> queue = this.queues.find(id);
		if (queue.isEmpty()) {
			return Problem.unknownQueue(id, this.queues.all().stream().map(Queue::id).toList()).response();
		}
		if (!queue.get().writesDeadLetters()) {
			return Problem
				.of("queue/no-dead-letters", "No dead letters", 404,
						"Queue '" + id + "' writes no dead letters: dlq.enabled is false.", null)
				.response();
		}
		return answer.apply(queue.get());
	}

	private static LetterSource source(Queue queue) {
		return new LetterSource(queue.deadLetterTopics(), queue.group());
	}

	private static ContextRules rulesOf(Queue queue) {
		return queue.settings().lanes().rules();
	}

	private static @Nullable String known(Queue queue, @Nullable String topic) {
		String chosen = given(topic);
		if (chosen != null && !queue.deadLetterTopics().contains(chosen)) {
			throw new InvalidParameterException("topic", chosen, List.copyOf(new TreeSet<>(queue.deadLetterTopics())));
		}
		return chosen;
	}

	private static @Nullable String given(@Nullable String text) {
		return (text != null && !text.isBlank()) ? text.trim() : null;
	}

	private static boolean includes(@Nullable String resolved) {
		String text = given(resolved);
		if (text != null && !text.equals("include") && !text.equals("exclude")) {
			throw new InvalidParameterException("resolved", text, List.of("include", "exclude"));
		}
		return "include".equals(text);
	}

	private int pageSize(@Nullable String limit) {
		String text = given(limit);
		if (text == null) {
			return this.browser.settings().pageSize();
		}
		int size = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
		if (size < 1 || size > SearchSettings.MAX_PAGE) {
			throw new InvalidParameterException("limit", text,
					List.of("a whole number from 1 to " + SearchSettings.MAX_PAGE));
		}
		return size;
	}

	private static long number(String name, String text, int digits) {
		if (!text.matches("[0-9]{1," + digits + "}")) {
			throw new InvalidParameterException(name, text, List.of("a whole number from 0 on"));
		}
		return Long.parseLong(text);
	}

	/**
	 * Answer of the overview.
	 *
	 * @param queues the queues by id
	 */
	public record Overview(List<QueueOverview> queues) {

	}

	/**
	 * The dead letters of a queue in short.
	 *
	 * @param id id of the queue
	 * @param group its consumer group
	 * @param topics its dead-letter topics
	 * @param problem why not all were looked at, if so
	 */
	public record QueueOverview(String id, String group, List<TopicOverview> topics, @Nullable String problem) {

	}

	/**
	 * Answer of a search.
	 *
	 * @param filter the conditions as they were understood
	 * @param records the dead letters found
	 * @param scanned records read
	 * @param matched number of dead letters found
	 * @param complete whether all was read that was there when the search began
	 * @param nextCursor where to go on, if not complete
	 * @param stoppedBy why it ended: {@code limit}, {@code timeout}, {@code max-scan} or
	 * {@code end}
	 */
	public record Found(Map<String, Object> filter, List<LetterDetail> records, long scanned, int matched,
			boolean complete, @Nullable String nextCursor, String stoppedBy) {

	}

}
