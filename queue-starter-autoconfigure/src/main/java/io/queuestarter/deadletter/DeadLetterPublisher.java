package io.queuestarter.deadletter;

import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
import io.queuestarter.deadletter.Letter.Form;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.log.LogLimit;

/**
 * Writes dead letters of one queue, and records that rest or are parked, through a
 * producer of its own. <em>Thread-safe.</em>
 */
/*
 * Writes, back-offs and topics belong to one thread, the publisher's, which may block in
 * the producer or in a look-up of a topic, so that no worker, timer or consumer thread
 * ever does. Letters come to it from any thread. Writes are asynchronous. The producer's
 * callback settles a record that was acknowledged; a failed one goes back to the thread.
 * What both threads write, and operators read, is atomic or volatile. After a failure all
 * records for the same topic wait for one back-off, since most failures (missing topic,
 * missing right, too few replicas) concern the topic and not the record; then they are
 * tried again. Those for other topics go on: they may be of another lane. A letter that
 * is too large concerns itself alone: it is written without message and stack trace, and
 * if it is too large even so, it waits alone.
 */
public final class DeadLetterPublisher implements DeadLetters, AutoCloseable {

	private static final Logger LOGGER = LoggerFactory.getLogger(DeadLetterPublisher.class);

	private final DeadLetterSettings settings;

	private final DeadLetterProducers producers;

	private final DeadLetterTopics topics;

	private final ScheduledThreadPoolExecutor thread;

	private final AtomicInteger waiting = new AtomicInteger();

	private final Map<DeadLetterReason, LongAdder> published = new EnumMap<>(DeadLetterReason.class);

	private final Map<Destination.Kind, LongAdder> redirected = new EnumMap<>(Destination.Kind.class);

	private final LongAdder failures = new LongAdder();

	private final LogLimit moved;

	private final OversizedLetters oversized = new OversizedLetters();

	/** By topic; written by the publisher thread only. */
	private final Map<String, TopicBacklog> backlogs = new ConcurrentHashMap<>();

	/** Publisher thread only. */
	private final Set<String> ensured = new HashSet<>();

	/** Publisher thread only: whether a failure may have left the producer of no use. */
	private boolean suspect;

	/**
	 * Creates a publisher; its thread starts with the first record.
	 * @param settings the queue's settings
	 * @param producers gives the producer; called on the publisher's thread
	 * @param topics looks after the topics
	 * @param nanoTime where the time is read
	 */
	public DeadLetterPublisher(DeadLetterSettings settings, DeadLetterProducers producers, DeadLetterTopics topics,
			LongSupplier nanoTime) {
		this.settings = settings;
		this.producers = producers;
		this.topics = topics;
		this.moved = new LogLimit(nanoTime);
		this.thread = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "queue-" + settings.listener() + "-dead-letters");
			thread.setDaemon(true);
			return thread;
		});
		this.thread.setKeepAliveTime(30, TimeUnit.SECONDS);
		this.thread.allowCoreThreadTimeOut(true);
		for (DeadLetterReason reason : DeadLetterReason.values()) {
			this.published.put(reason, new LongAdder());
		}
		for (Destination.Kind kind : Destination.Kind.values()) {
			this.redirected.put(kind, new LongAdder());
		}
	}

	/**
	 * Checks or creates a topic that is written for a source topic, before it is needed.
	 * Never blocks; what is wrong is logged as a warning.
	 * @param source a topic that the queue consumes
	 * @param topic the topic to be written
	 * @param kind what it is for
	 * @param delay time that records rest in the topic
	 * @return done when the topic was looked after, or will not be
	 */
	public CompletableFuture<Void> prepare(String source, String topic, Destination.Kind kind, Duration delay) {
		CompletableFuture<Void> done = new CompletableFuture<>();
		boolean accepted = execute(() -> {
			try {
				ensure(source, topic, kind);
				this.topics.check(topic, delay);
			}
			catch (Throwable ex) {
				LOGGER.warn("Records of queue '{}' that fail will be held: {}", this.settings.listener(),
						(ex instanceof QueueException) ? ex.getMessage() : ex.toString());
			}
			finally {
				done.complete(null);
			}
		}, null);
		if (!accepted) {
			done.complete(null);
		}
		return done;
	}

	@Override
	public void publish(Delivery delivery, Failure failure, Destination destination) {
		this.waiting.incrementAndGet();
		Letter letter = Letter.of(delivery, failure, destination);
		execute(() -> send(letter), letter);
	}

	private void send(Letter letter) {
		send(letter, Form.FULL);
	}

	private void send(Letter letter, Form form) {
		Delivery delivery = letter.delivery();
		if (backlog(letter).isPausing() && !delivery.isEnded()) {
			hold(letter);
			return;
		}
		ConsumerRecord<byte[], byte[]> record = letter.take();
		if (record == null) {
			end(letter);
			return;
		}
		String topic = letter.destination().topic();
		// A producer may throw although it has taken the record, and call back later.
		AtomicBoolean failed = new AtomicBoolean();
		try {
			ensure(delivery.assignment().stage().source(), topic, letter.destination().kind());
			this.producers.get().send(letter.write(record, form, this.settings), (metadata, error) -> {
				if (error == null) {
					acknowledged(letter, form);
				}
				else if (failed.compareAndSet(false, true)) {
					execute(() -> failed(letter, form, error), letter);
				}
			});
		}
		catch (Throwable ex) {
			if (failed.compareAndSet(false, true)) {
				failed(letter, form, ex);
			}
		}
	}

	/** Keeps a letter until the end of the back-off. */
	private void hold(Letter letter) {
		backlog(letter).hold(letter);
		letter.hold();
	}

	private TopicBacklog backlog(Letter letter) {
		return this.backlogs.computeIfAbsent(letter.destination().topic(), (topic) -> new TopicBacklog());
	}

	/** Whether the letter waited until now. */
	private boolean end(Letter letter) {
		this.oversized.remove(letter.delivery());
		boolean first = letter.end();
		if (first) {
			this.waiting.decrementAndGet();
		}
		return first;
	}

	/** Producer thread. */
	private void acknowledged(Letter letter, Form form) {
		if (!end(letter)) {
			return;
		}
		backlog(letter).written();
		Objects.requireNonNull(this.redirected.get(letter.destination().kind())).increment();
		if (letter.isDead()) {
			count(letter.failure().reason()).increment();
		}
		letter.settle();
		letter.log()
			.run(() -> this.moved.warn(LOGGER, "{} moved to '{}' after {} attempts{}: {}, {}", letter.delivery(),
					letter.destination().topic(), letter.failure().attempts(), form.text,
					letter.failure().reason().tag(), letter.failure().error().getClass().getName()));
	}

	private void failed(Letter letter, Form form, Throwable error) {
		this.failures.increment();
		String topic = letter.destination().topic();
		if (error instanceof RecordTooLargeException || error instanceof RecordBatchTooLargeException) {
			tooLarge(letter, form, error);
			return;
		}
		hold(letter);
		this.suspect |= !(error instanceof AuthorizationException || error instanceof QueueException);
		TopicBacklog backlog = backlog(letter);
		String message = (error instanceof QueueException) ? error.getMessage() : null;
		backlog.failed((message != null) ? message : error.getClass().getSimpleName() + " for '" + topic + "'");
		if (!backlog.isPausing()) {
			this.ensured.remove(topic);
			Duration pause = pause(backlog);
			// Last, since the error may throw when it is asked for its message.
			letter.log()
				.run(() -> LOGGER.error(
						"{} could not be written to '{}' and is held, {} records in all; tried again in {}",
						letter.delivery(), topic, this.waiting.get(), pause, error));
		}
	}

	/**
	 * Step by step with less, but a record that is to be handled again as a whole: it
	 * rather becomes a dead letter. A dead letter that was merged never becomes a stub:
	 * the letter that has its value would count as resolved.
	 */
	private void tooLarge(Letter letter, Form form, Throwable error) {
		String topic = letter.destination().topic();
		boolean dead = letter.isDead();
		Destination fallback = dead ? null : this.settings.fallback().apply(letter.delivery());
		if (form == Form.FULL) {
			send(letter, Form.BRIEF);
			return;
		}
		if (fallback != null) {
			send(letter.to(fallback, DeadLetterReason.TOO_LARGE));
			return;
		}
		boolean merged = letter.delivery().assignment().stage().kind() == Stage.Kind.DEAD_LETTER;
		if (form == Form.BRIEF && dead && !merged && this.settings.onTooLarge() == TooLarge.STUB) {
			send(letter, Form.STUB);
			return;
		}
		Duration pause = this.settings.maxPause();
		this.oversized.add(letter.delivery(), topic);
		letter.hold();
		schedule(() -> send(letter), pause, letter);
		letter.log()
			.run(() -> LOGGER.error(
					"{} is too large for '{}', also{}, and is held: raise the topic's "
							+ "max.message.bytes; tried again in {}",
					letter.delivery(), topic, form.text, pause, error));
	}

	private Duration pause(TopicBacklog backlog) {
		Duration pause = this.settings.pauseAfter(backlog.pause());
		schedule(() -> resume(backlog), pause, null);
		return pause;
	}

	private void resume(TopicBacklog backlog) {
		backlog.resume();
		try {
			renewSuspect();
			for (int count = backlog.size(); count > 0 && !backlog.isPausing(); count--) {
				send(backlog.remove());
			}
		}
		finally {
			// Whatever was thrown: the others are not left without a next time.
			if (backlog.size() > 0 && !backlog.isPausing()) {
				pause(backlog);
			}
		}
	}

	/**
	 * A producer that the broker did not let in when it asked for its id never asks
	 * again: each of its writes times out, also when the password is right.
	 */
	private void renewSuspect() {
		if (this.suspect) {
			this.suspect = false;
			this.producers.renew();
		}
	}

	private void ensure(String source, String topic, Destination.Kind kind) throws Exception {
		if (!this.ensured.contains(topic)) {
			this.topics.ensure(source, topic, kind);
			this.ensured.add(topic);
		}
	}

	private boolean execute(Runnable task, @Nullable Letter letter) {
		return schedule(task, Duration.ZERO, letter);
	}

	/** Answers whether the task will run, if the publisher is not closed before. */
	private boolean schedule(Runnable task, Duration delay, @Nullable Letter letter) {
		try {
			this.thread.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
			return true;
		}
		catch (RejectedExecutionException ex) {
			// Closed with the application: the record is let go and delivered again.
			if (letter != null) {
				end(letter);
				letter.delivery().letGo();
			}
			return false;
		}
	}

	/**
	 * Records that wait to be written or for the broker's answer.
	 * @return the number
	 */
	public int waiting() {
		return this.waiting.get();
	}

	/**
	 * Dead letters that the broker acknowledged.
	 * @param reason why they were dead-lettered
	 * @return the number
	 */
	public long published(DeadLetterReason reason) {
		return count(reason).sum();
	}

	/**
	 * Records that the broker acknowledged in a topic of one kind.
	 * @param kind what the topic is for
	 * @return the number
	 */
	public long redirected(Destination.Kind kind) {
		return Objects.requireNonNull(this.redirected.get(kind)).sum();
	}

	private LongAdder count(DeadLetterReason reason) {
		return Objects.requireNonNull(this.published.get(reason));
	}

	/**
	 * Writes that failed; each is repeated.
	 * @return the number
	 */
	public long failures() {
		return this.failures.sum();
	}

	/**
	 * What the last write to a topic failed with, and how many records are held since
	 * they are too large, whatever became of others.
	 * @return a text for operators, or {@code null} if the last write to each topic
	 * succeeded and no record is too large
	 */
	public @Nullable String problem() {
		String current = null;
		for (TopicBacklog backlog : this.backlogs.values()) {
			current = (current != null) ? current : backlog.problem();
		}
		String large = this.oversized.problem();
		if (current == null || large == null) {
			return (current != null) ? current : large;
		}
		return current + "; " + large;
	}

	/**
	 * Ends the publisher; called once the consumers have left, which let go of their
	 * records, held ones too. What still waits is forgotten and not written, so a record
	 * that nobody has let go is delivered again after a restart. A record that comes
	 * later, or whose write fails later, is let go; one whose write is acknowledged later
	 * is settled.
	 */
	@Override
	public void close() {
		this.thread.shutdownNow();
	}

}
