package io.queuestarter.browse;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * Looks for dead letters, and changes nothing: it commits nothing and is in no group.
 * Each call reads with a consumer of its own, of which one is kept for the next call, and
 * takes no longer than the timeout of the settings. <em>Thread-safe.</em>
 */
public final class DeadLetterBrowser implements AutoCloseable {

	/** Behind the newest dead letter there may be what is none. */
	private static final int TAIL = 10;

	private final Supplier<LetterScanner> scanners;

	private final Supplier<Admin> admin;

	private final SearchSettings settings;

	private final LongSupplier nanoTime;

	/** Nobody reads with it. */
	private final AtomicReference<@Nullable LetterScanner> idle = new AtomicReference<>();

	private volatile boolean closed;

	/**
	 * Creates a browser.
	 * @param scanners opens a scanner
	 * @param admin client that asks what is resolved
	 * @param settings bounds of a search
	 * @param nanoTime where time is read
	 */
	public DeadLetterBrowser(Supplier<LetterScanner> scanners, Supplier<Admin> admin, SearchSettings settings,
			LongSupplier nanoTime) {
		this.scanners = scanners;
		this.admin = admin;
		this.settings = settings;
		this.nanoTime = nanoTime;
	}

	/**
	 * Bounds of a search.
	 * @return the settings
	 */
	public SearchSettings settings() {
		return this.settings;
	}

	/**
	 * Looks for dead letters, oldest first within a partition.
	 * @param <T> how a dead letter is shown
	 * @param source where to look
	 * @param search what to look for
	 * @param view makes of each dead letter what is kept of it
	 * @return what was found
	 * @throws InvalidParameterException if the cursor is none of a search here
	 * @throws BrowseException if the broker did not answer in time, or refused
	 */
	public <T> LetterPage<T> search(LetterSource source, LetterSearch search, LetterView<T> view) {
		Map<TopicPartition, Long> cursor = (search.cursor() != null)
				? LetterCursor.read(search.cursor(), source.topics()) : Map.of();
		Deadline deadline = new Deadline(this.settings.timeout(), this.nanoTime);
		return read((scanner) -> {
			Map<TopicPartition, LetterLog> logs = logs(scanner, source, deadline);
			logs.keySet().removeIf((partition) -> !search.filter().admits(partition));
			ScanPlan plan = new ScanPlan(logs, search, cursor);
			Instant from = search.filter().from();
			if (from != null && !logs.isEmpty()) {
				plan.beginAt(scanner.offsetsFrom(logs.keySet(), from, deadline.remaining()));
			}
			List<T> found = new ArrayList<>();
			Scan scan = scanner.scan(plan.positions(), plan.ends(), this.settings.maxScan(), deadline.remaining(),
					(letter) -> {
						boolean resolved = isResolved(logs, letter);
						if ((!resolved || search.resolvedToo()) && search.filter().matches(letter)) {
							found.add(view.of(letter, resolved));
						}
						return (found.size() < search.limit()) ? Verdict.NEXT : Verdict.STOP;
					});
			boolean complete = scan.stoppedBy() == StoppedBy.END;
			return new LetterPage<>(found, scan.scanned(), complete, complete ? null : LetterCursor.write(scan.next()),
					scan.stoppedBy());
		});
	}

	private static boolean isResolved(Map<TopicPartition, LetterLog> logs, DeadLetter letter) {
		LetterLog log = logs.get(letter.partition());
		return log != null && log.resolved().contains(letter.offset());
	}

	/**
	 * Reads one dead letter.
	 * @param <T> how it is shown
	 * @param source where to look
	 * @param partition partition of one of its topics
	 * @param offset offset there
	 * @param view shows it
	 * @return it, unless there is no record at this offset, or none any more
	 * @throws BrowseException if the broker did not answer in time, or refused
	 */
	public <T> Optional<T> find(LetterSource source, TopicPartition partition, long offset, LetterView<T> view) {
		Deadline deadline = new Deadline(this.settings.timeout(), this.nanoTime);
		return read((scanner) -> {
			Map<TopicPartition, LetterLog> logs = logs(scanner,
					new LetterSource(Set.of(partition.topic()), source.group()), deadline);
			LetterLog log = logs.get(partition);
			if (log == null || offset < log.span().start() || offset >= log.span().end()) {
				return Optional.empty();
			}
			AtomicReference<T> found = new AtomicReference<>();
			Scan scan = scanner.scan(Map.of(partition, offset), Map.of(partition, offset + 1), 1, deadline.remaining(),
					(letter) -> {
						found.set(view.of(letter, log.resolved().contains(offset)));
						return Verdict.STOP;
					});
			if (scan.stoppedBy() == StoppedBy.TIMEOUT) {
				throw new BrowseException(partition + "@" + offset + " could not be read in time", null);
			}
			return Optional.ofNullable(found.get());
		});
	}

	/**
	 * Tells what lies in the dead-letter topics of queues. All are looked at within the
	 * timeout; of those that could not be looked at it tells why.
	 * @param sources where to look
	 * @return one overview a source, in their order
	 */
	public List<SourceOverview> overview(List<LetterSource> sources) {
		Deadline deadline = new Deadline(this.settings.timeout(), this.nanoTime);
		return read((scanner) -> sources.stream().map((source) -> overview(scanner, source, deadline)).toList());
	}

	private SourceOverview overview(LetterScanner scanner, LetterSource source, Deadline deadline) {
		List<TopicOverview> topics = new ArrayList<>();
		try {
			Map<TopicPartition, LetterLog> logs = logs(scanner, source, deadline);
			for (String topic : new TreeSet<>(source.topics())) {
				LetterSample sample = new LetterSample(topic, logs);
				readOldest(scanner, sample, deadline);
				scanner.scan(sample.positions(), sample.ends(), this.settings.maxScan(), deadline.remaining(),
						sample::add);
				scanner.scan(sample.tails(TAIL), sample.ends(), Long.MAX_VALUE, deadline.remaining(), sample::addLast);
				topics.add(sample.overview());
			}
			return new SourceOverview(topics, null);
		}
		catch (BrowseException ex) {
			return new SourceOverview(topics, ex.getMessage());
		}
	}

	/**
	 * Counts the dead letters that are not resolved.
	 * @param source where to look
	 * @return how many there are
	 * @throws BrowseException if the broker did not answer in time, or refused
	 */
	public LetterDepth depth(LetterSource source) {
		Deadline deadline = new Deadline(this.settings.timeout(), this.nanoTime);
		return read((scanner) -> {
			Map<TopicPartition, LetterLog> logs = logs(scanner, source, deadline);
			long count = 0;
			Instant oldest = null;
			for (String topic : source.topics()) {
				LetterSample sample = new LetterSample(topic, logs);
				readOldest(scanner, sample, deadline);
				count += sample.depth();
				Instant first = sample.oldest();
				oldest = (oldest == null || (first != null && first.isBefore(oldest))) ? first : oldest;
			}
			return new LetterDepth(count, oldest);
		});
	}

	/**
	 * Kafka's client logs dozens of lines for each consumer that is made. One with which
	 * something went wrong is not used again.
	 */
	private <T> T read(Function<LetterScanner, T> question) {
		LetterScanner scanner = this.idle.getAndSet(null);
		if (scanner == null) {
			scanner = this.scanners.get();
		}
		try {
			T answer = question.apply(scanner);
			if (this.idle.compareAndSet(null, scanner)) {
				scanner = null;
			}
			return answer;
		}
		finally {
			if (scanner != null) {
				scanner.close();
			}
			if (this.closed) {
				close();
			}
		}
	}

	@Override
	public void close() {
		this.closed = true;
		LetterScanner last = this.idle.getAndSet(null);
		if (last != null) {
			last.close();
		}
	}

	private static void readOldest(LetterScanner scanner, LetterSample sample, Deadline deadline) {
		scanner.scan(sample.positions(), sample.ends(), Long.MAX_VALUE, deadline.remaining(), sample::addFirst);
	}

	private Map<TopicPartition, LetterLog> logs(LetterScanner scanner, LetterSource source, Deadline deadline) {
		Map<TopicPartition, LogSpan> spans = scanner.spans(partitions(source.topics(), deadline), deadline.remaining());
		// After the ends, so that no record counts as unresolved that was merged since.
		Map<TopicPartition, OffsetAndMetadata> commits = spans.isEmpty() ? Map.of()
				: commits(Resolved.group(source.group()), deadline.remaining());
		Map<TopicPartition, LogSpan> now = isAnyBeyond(commits, spans)
				? scanner.spans(spans.keySet(), deadline.remaining()) : spans;
		Map<TopicPartition, LetterLog> logs = new HashMap<>();
		spans.forEach((partition, span) -> logs.put(partition,
				new LetterLog(span, Resolved.of(commits.get(partition), now.getOrDefault(partition, span).end()))));
		return logs;
	}

	/** A job may have come further meanwhile than the ends that were seen. */
	private static boolean isAnyBeyond(Map<TopicPartition, OffsetAndMetadata> commits,
			Map<TopicPartition, LogSpan> spans) {
		return spans.entrySet().stream().anyMatch((entry) -> {
			OffsetAndMetadata commit = commits.get(entry.getKey());
			return commit != null && commit.offset() > entry.getValue().end();
		});
	}

	/** Those of topics that exist; a reader may remember what was there before. */
	private Set<TopicPartition> partitions(Set<String> topics, Deadline deadline) {
		Set<TopicPartition> partitions = new HashSet<>();
		this.admin.get().describeTopics(topics).topicNameValues().forEach((topic, answer) -> {
			TopicDescription description = get("for topic '" + topic + "'", answer, deadline.remaining());
			if (description != null) {
				description.partitions()
					.forEach((partition) -> partitions.add(new TopicPartition(topic, partition.partition())));
			}
		});
		return partitions;
	}

	private Map<TopicPartition, OffsetAndMetadata> commits(String group, Duration timeout) {
		Map<TopicPartition, OffsetAndMetadata> commits = get("what group '" + group + "' resolved",
				this.admin.get().listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata(), timeout);
		return (commits != null) ? commits : Map.of();
	}

	/** The answer, or null if there is no such topic. */
	private static <T> @Nullable T get(String question, KafkaFuture<T> answer, Duration timeout) {
		try {
			return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof UnknownTopicOrPartitionException) {
				return null;
			}
			throw new BrowseException("The broker was asked " + question + ": " + ex.getCause(), ex);
		}
		catch (TimeoutException | KafkaException ex) {
			throw new BrowseException("The broker was asked " + question + ": " + ex, ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BrowseException("Interrupted", ex);
		}
	}

}
