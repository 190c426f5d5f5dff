package io.queuestarter.deadletter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.DeliveryState;

/**
 * Writes dead letters of one queue through a producer of its own. <em>Thread-safe.</em>
 */
/*
 * Everything but the count of waiting records belongs to one thread, which may block in
 * the producer or in a look-up of a topic, so that no worker, timer or consumer thread
 * ever does. Writes are asynchronous. The producer's callback settles a record that was
 * acknowledged; a failed one goes back to the thread. After a failure all records wait
 * for one back-off, since most failures (missing topic, missing right, too few replicas)
 * concern the topic and not the record; then they are tried again. A record that is too
 * large concerns itself alone and waits alone.
 */
public final class DeadLetterPublisher implements DeadLetters, AutoCloseable {

	private static final Logger LOGGER = LoggerFactory.getLogger(DeadLetterPublisher.class);

	private final DeadLetterSettings settings;

	private final Supplier<Producer<byte[], byte[]>> producers;

	private final DeadLetterTopics topics;

	private final ScheduledThreadPoolExecutor thread;

	private final AtomicInteger waiting = new AtomicInteger();

	private final Map<DeadLetterReason, LongAdder> published = new EnumMap<>(DeadLetterReason.class);

	private final LongAdder failures = new LongAdder();

	/**
	 * Volatile; what the last write failed with, or null once one has succeeded since.
	 */
	private volatile @Nullable String problem;

	/** Publisher thread only. */
	private final ArrayDeque<Letter> held = new ArrayDeque<>();

	/** Publisher thread only. */
	private final Set<String> ensured = new HashSet<>();

	/** Publisher thread only: whether all records wait for the end of a back-off. */
	private boolean pausing;

	/** Written by the publisher thread and reset by the producer's. */
	private final AtomicInteger pauses = new AtomicInteger();

	/**
	 * Creates a publisher; its thread starts with the first record.
	 * @param settings the queue's settings
	 * @param producers gives the producer; called on the publisher's thread
	 * @param topics looks after the topics
	 */
	public DeadLetterPublisher(DeadLetterSettings settings, Supplier<Producer<byte[], byte[]>> producers,
			DeadLetterTopics topics) {
		this.settings = settings;
		this.producers = producers;
		this.topics = topics;
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
	}

	/**
	 * Checks or creates the dead-letter topic of a source topic, before it is needed.
	 * Never blocks; what is wrong is logged as a warning.
	 * @param source a topic that the queue consumes
	 */
	public void prepare(String source) {
		execute(() -> {
			try {
				ensure(source);
			}
			catch (Throwable ex) {
				LOGGER.warn("Records of queue '{}' that fail will be held: {}", this.settings.listener(),
						(ex instanceof QueueException) ? ex.getMessage() : ex.toString());
			}
		}, null);
	}

	@Override
	public void publish(Delivery delivery, Failure failure) {
		this.waiting.incrementAndGet();
		Letter letter = new Letter(delivery, failure, new AtomicBoolean());
		execute(() -> send(letter), letter);
	}

	private void send(Letter letter) {
		if (this.pausing) {
			this.held.add(letter);
			return;
		}
		ConsumerRecord<byte[], byte[]> record = letter.delivery().record();
		if (record == null) {
			end(letter);
			return;
		}
		String topic = this.settings.topicFor(record.topic());
		// A producer may throw although it has taken the record, and call back later.
		AtomicBoolean failed = new AtomicBoolean();
		try {
			ensure(record.topic());
			this.producers.get()
				.send(new ProducerRecord<>(topic, null, null, record.key(), record.value(), DeadLetterHeaders.of(record,
						letter.failure(), this.settings.listener(), this.settings.group())), (metadata, error) -> {
							if (error == null) {
								acknowledged(letter, topic);
							}
							else if (failed.compareAndSet(false, true)) {
								execute(() -> failed(letter, topic, error), letter);
							}
						});
		}
		catch (Throwable ex) {
			if (failed.compareAndSet(false, true)) {
				failed(letter, topic, ex);
			}
		}
	}

	/** Whether the letter waited until now. */
	private boolean end(Letter letter) {
		boolean first = letter.ended().compareAndSet(false, true);
		if (first) {
			this.waiting.decrementAndGet();
		}
		return first;
	}

	/** Producer thread. */
	private void acknowledged(Letter letter, String topic) {
		if (!end(letter)) {
			return;
		}
		this.pauses.set(0);
		this.problem = null;
		count(letter.failure().reason()).increment();
		letter.delivery().settle(DeliveryState.DEAD_LETTERING);
		LOGGER.warn("{} moved to '{}' after {} attempts: {}, {}", letter.delivery(), topic, letter.failure().attempts(),
				letter.failure().reason().tag(), letter.failure().error().getClass().getName());
	}

	private void failed(Letter letter, String topic, Throwable error) {
		this.failures.increment();
		this.problem = (error instanceof QueueException) ? error.getMessage()
				: error.getClass().getSimpleName() + " for '" + topic + "'";
		if (error instanceof RecordTooLargeException) {
			Duration pause = this.settings.maxPause();
			schedule(() -> send(letter), pause, letter);
			LOGGER.error("{} is too large for '{}' and stays held: raise the topic's max.message.bytes; "
					+ "tried again in {}", letter.delivery(), topic, pause, error);
			return;
		}
		this.held.add(letter);
		if (!this.pausing) {
			this.ensured.remove(topic);
			Duration pause = pause();
			// Last, since the error may throw when it is asked for its message.
			LOGGER.error("{} could not be written to '{}' and is held, {} records in all; tried again in {}",
					letter.delivery(), topic, this.waiting.get(), pause, error);
		}
	}

	private Duration pause() {
		this.pausing = true;
		Duration pause = this.settings.pauseAfter(this.pauses.incrementAndGet());
		schedule(this::resume, pause, null);
		return pause;
	}

	private void resume() {
		this.pausing = false;
		try {
			for (int count = this.held.size(); count > 0 && !this.pausing; count--) {
				send(this.held.remove());
			}
		}
		finally {
			// Whatever was thrown: the others are not left without a next time.
			if (!this.held.isEmpty() && !this.pausing) {
				pause();
			}
		}
	}

	private void ensure(String source) throws Exception {
		String topic = this.settings.topicFor(source);
		if (!this.ensured.contains(topic)) {
			this.topics.ensure(source, topic);
			this.ensured.add(topic);
		}
	}

	private void execute(Runnable task, @Nullable Letter letter) {
		schedule(task, Duration.ZERO, letter);
	}

	private void schedule(Runnable task, Duration delay, @Nullable Letter letter) {
		try {
			this.thread.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			// Closed with the application: the record is let go and delivered again.
			if (letter != null) {
				end(letter);
				letter.delivery().letGo();
			}
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
	 * What the last write failed with.
	 * @return a text for operators, or {@code null} if the last write succeeded
	 */
	public @Nullable String problem() {
		return this.problem;
	}

	/**
	 * Ends the publisher. Records that are still held are let go.
	 */
	@Override
	public void close() {
		this.thread.shutdownNow();
	}

	private record Letter(Delivery delivery, Failure failure, AtomicBoolean ended) {

	}

}
