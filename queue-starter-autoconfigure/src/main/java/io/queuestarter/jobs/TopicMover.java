package io.queuestarter.jobs;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;

import com.netflix.concurrency.limits.limit.Gradient2Limit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

import io.queuestarter.browse.DeadLetter;
import io.queuestarter.deadletter.DeadLetterHeaders;
import io.queuestarter.delivery.History;

/**
 * Writes dead letters to a topic, or to those that they came from. Each outcome is that
 * of the broker's answer to this one write, and no write is repeated here: the producer
 * does that, idempotently, within its delivery timeout.
 * <p>
 * The number of writes under way follows their latency: when it rises, the job yields.
 * Source of the rule: the gradient limit of Netflix's concurrency-limits.
 */
final class TopicMover implements Mover {

	/** Writes under way however slow they are; and how fast more are tried. */
	private static final int LEAST_LIMIT = 100;

	/** How much slower than on average writes may be before there are fewer. */
	private static final double TOLERANCE = 4;

	/** Longer than writes may take. */
	private static final Duration CLOSE = Duration.ofSeconds(20);

	private final Producer<byte[], byte[]> producer;

	private final JobTarget target;

	private final @Nullable Edit edit;

	private final Gradient2Limit limit;

	/** Written by the producer's thread, taken by the job's. */
	private final ConcurrentLinkedQueue<Ended> ended = new ConcurrentLinkedQueue<>();

	private final Map<String, Integer> partitions = new HashMap<>();

	private int inFlight;

	TopicMover(Producer<byte[], byte[]> producer, JobTarget target, @Nullable Edit edit, int most) {
		this.producer = producer;
		this.target = target;
		this.edit = edit;
		this.limit = Gradient2Limit.newBuilder()
			.initialLimit(most)
			.minLimit(Math.min(LEAST_LIMIT, most))
			.queueSize(Math.min(LEAST_LIMIT, most))
			.rttTolerance(TOLERANCE)
			.maxConcurrency(most)
			.build();
	}

	@Override
	public @Nullable String obstacle() {
		return null;
	}

	@Override
	public boolean hasRoom() {
		return this.inFlight < this.limit.getLimit();
	}

	@Override
	public void move(DeadLetter letter) {
		ConsumerRecord<byte[], byte[]> record = (this.edit != null) ? this.edit.apply(letter.record())
				: letter.record();
		Headers headers = DeadLetterHeaders.original(record);
		headers.add(History.MERGES, Integer.toString(letter.merges() + 1).getBytes(StandardCharsets.UTF_8));
		ProducerRecord<byte[], byte[]> copy = new ProducerRecord<>(topicOf(letter), partitionOf(letter), null,
				record.key(), record.value(), headers);
		int before = this.inFlight++;
		long start = System.nanoTime();
		try {
			this.producer.send(copy, (metadata, error) -> this.ended
				.add(new Ended(letter, start, System.nanoTime() - start, before, error)));
		}
		catch (RuntimeException ex) {
			this.ended.add(new Ended(letter, start, System.nanoTime() - start, before, ex));
		}
	}

	private String topicOf(DeadLetter letter) {
		return Objects
			.requireNonNull((this.target.kind() == JobTarget.Kind.SOURCE) ? letter.originTopic() : this.target.topic());
	}

	/** Where it was, so that order of keys means there what it meant before. */
	private @Nullable Integer partitionOf(DeadLetter letter) {
		Integer origin = letter.originPartition();
		if (origin == null || this.target.kind() != JobTarget.Kind.SOURCE) {
			return null;
		}
		int count = this.partitions.computeIfAbsent(topicOf(letter),
				(topic) -> this.producer.partitionsFor(topic).size());
		return (origin < count) ? origin : null;
	}

	@Override
	public void collect(BiConsumer<DeadLetter, MoveResult> sink) {
		Ended next = this.ended.poll();
		while (next != null) {
			this.inFlight--;
			this.limit.onSample(next.startNanos(), Math.max(1, next.latencyNanos()), next.before() + 1,
					next.error() != null);
			sink.accept(next.letter(), (next.error() == null) ? MoveResult.DONE : MoveResult.failed(next.error()));
			next = this.ended.poll();
		}
	}

	@Override
	public int inFlight() {
		return this.inFlight;
	}

	@Override
	public void stop() {
		// What was given to the producer is on its way.
	}

	@Override
	public void close() {
		this.producer.close(CLOSE);
	}

	private record Ended(DeadLetter letter, long startNanos, long latencyNanos, int before, @Nullable Exception error) {

	}

}
