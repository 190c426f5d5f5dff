package io.queuestarter.container;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.TaskQueue;
import io.queuestarter.jobs.Redelivery;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.ledger.PartitionLedger;

/**
 * Gives dead letters to a queue's handler: they take turns with the queue's partitions,
 * and occupy no more than a share of the slots while fresh records wait. Their ledgers
 * serve this job alone and are committed nowhere. <em>For the thread of one job.</em>
 */
final class QueueRedelivery implements Redelivery {

	/** More than a job has under way. */
	private static final int WINDOW = 10_000;

	private static final Runnable NOBODY = () -> {
	};

	private final Queue queue;

	private final QueueEngine engine;

	private final TimeSource time;

	private final TaskQueue<Delivery> tasks;

	private final Map<Stage, Map<TopicPartition, Assignment>> assignments = new HashMap<>();

	QueueRedelivery(Queue queue, QueueEngine engine, TimeSource time) {
		this.queue = queue;
		this.engine = engine;
		this.time = time;
		this.tasks = engine.openForMerge();
	}

	@Override
	public @Nullable String obstacle() {
		QueueState state = this.queue.state();
		if (state != QueueState.RUNNING && state != QueueState.STARTING) {
			return "queue is " + state;
		}
		if (this.engine.circuits().isOpen()) {
			return "circuit breaker is open";
		}
		return this.engine.bytes().isSpent() ? "buffer.max-size is reached" : null;
	}

	/**
	 * As many wait as may run; and a letter that does not end must not fill its ledger.
	 */
	@Override
	public boolean hasRoom() {
		return this.engine.dispatcher().waiting(this.tasks) < this.engine.dispatcher().limit()
				&& assignments().allMatch(QueueRedelivery::hasRoom);
	}

	/**
	 * Letters that were let go stay in the dead-letter topic, and hold up nobody here.
	 */
	private static boolean hasRoom(Assignment assignment) {
		PartitionLedger<Delivery> ledger = assignment.ledger();
		if (ledger.tracked() >= WINDOW / 2) {
			ledger.forEachOutstanding(assignment::forget);
			ledger.advance();
		}
		return ledger.tracked() < WINDOW / 2;
	}

	private Stream<Assignment> assignments() {
		return this.assignments.values().stream().flatMap((partitions) -> partitions.values().stream());
	}

	@Override
	public Delivery deliver(ConsumerRecord<byte[], byte[]> letter, String source) {
		Assignment assignment = this.assignments
			.computeIfAbsent(new Stage(source, Stage.Kind.DEAD_LETTER, Duration.ZERO), (stage) -> new HashMap<>())
			.computeIfAbsent(new TopicPartition(letter.topic(), letter.partition()),
					(partition) -> assignment(partition, source, letter.offset()));
		assignment.ledger().advance();
		Delivery delivery = assignment.admit(letter, this.time.nanoTime());
		this.engine.dispatcher().submit(this.tasks, List.of(delivery));
		return delivery;
	}

	private Assignment assignment(TopicPartition partition, String source, long offset) {
		return new Assignment(partition, new Stage(source, Stage.Kind.DEAD_LETTER, Duration.ZERO),
				new PartitionLedger<>(WINDOW, offset, OffsetRanges.EMPTY), 0, -1, this.tasks, this.engine.bytes(),
				new ByteBudget(Long.MAX_VALUE, NOBODY), NOBODY);
	}

	/** None that waits for another one is begun any more. */
	@Override
	public void letGoIdle() {
		this.engine.dispatcher().close(this.tasks);
		forEachOutstanding(Delivery::letGoIfIdle);
	}

	@Override
	public void close() {
		this.engine.dispatcher().close(this.tasks);
		forEachOutstanding(Delivery::letGo);
	}

	private void forEachOutstanding(Consumer<Delivery> action) {
		assignments().forEach((assignment) -> assignment.ledger().forEachOutstanding(action));
	}

}
