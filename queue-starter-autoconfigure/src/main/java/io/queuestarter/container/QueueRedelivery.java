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

import io.queuestarter.context.RecordContext;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.ByteBudget;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.LaneQueues;
import io.queuestarter.delivery.Stage;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.dispatch.Dispatcher;
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

	private final QueueLanes lanes;

	private final TimeSource time;

	/** By the index of a lane. */
	private final List<TaskQueue<Delivery>> tasks;

	private final Map<Stage, Map<TopicPartition, Assignment>> assignments = new HashMap<>();

	QueueRedelivery(Queue queue, QueueLanes lanes, TimeSource time) {
		this.queue = queue;
		this.lanes = lanes;
		this.time = time;
		this.tasks = lanes.engines().stream().map(QueueEngine::openForMerge).toList();
	}

	@Override
	public @Nullable String obstacle() {
		QueueState state = this.queue.state();
		if (state != QueueState.RUNNING && state != QueueState.STARTING) {
			return "queue is " + state;
		}
		if (this.lanes.isOpen()) {
			return "circuit breaker is open";
		}
		return this.lanes.bytes().isSpent() ? "buffer.max-size is reached" : null;
	}

	/**
	 * As many wait as may run; and a letter that does not end must not fill its ledger.
	 */
	@Override
	public boolean hasRoom() {
		for (int lane = 0; lane < this.tasks.size(); lane++) {
			Dispatcher<Delivery> dispatcher = this.lanes.engines().get(lane).dispatcher();
			if (dispatcher.waiting(this.tasks.get(lane)) >= dispatcher.limit()) {
				return false;
			}
		}
		return assignments().allMatch(QueueRedelivery::hasRoom);
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
	public @Nullable String refusal(ConsumerRecord<byte[], byte[]> letter) {
		RecordContext context = contextOf(letter);
		return context.isServed() ? null : "lane '" + context.lane() + "' is not served here";
	}

	private RecordContext contextOf(ConsumerRecord<byte[], byte[]> letter) {
		return this.queue.settings().lanes().rules().of(letter.headers());
	}

	@Override
	public Delivery deliver(ConsumerRecord<byte[], byte[]> letter, String source) {
		Assignment assignment = this.assignments
			.computeIfAbsent(new Stage(source, Stage.Kind.DEAD_LETTER, Duration.ZERO), (stage) -> new HashMap<>())
			.computeIfAbsent(new TopicPartition(letter.topic(), letter.partition()),
					(partition) -> assignment(partition, source, letter.offset()));
		assignment.ledger().advance();
		RecordContext context = contextOf(letter);
		if (!context.isServed()) {
			throw new IllegalArgumentException("Lane of " + letter + " is not served");
		}
		Delivery delivery = assignment.admit(letter, context, this.time.nanoTime());
		this.lanes.engine(delivery).dispatcher().submit(this.tasks.get(context.index()), List.of(delivery));
		return delivery;
	}

	private Assignment assignment(TopicPartition partition, String source, long offset) {
		return new Assignment(partition, new Stage(source, Stage.Kind.DEAD_LETTER, Duration.ZERO),
				new PartitionLedger<>(WINDOW, offset, OffsetRanges.EMPTY), 0, -1, new LaneQueues(this.tasks, List.of()),
				this.lanes.bytes(), new ByteBudget(Long.MAX_VALUE, NOBODY), NOBODY);
	}

	/** None that waits for another one is begun any more. */
	@Override
	public void letGoIdle() {
		closeTasks();
		forEachOutstanding(Delivery::letGoIfIdle);
	}

	@Override
	public void close() {
		closeTasks();
		forEachOutstanding(Delivery::letGo);
	}

	private void closeTasks() {
		for (int lane = 0; lane < this.tasks.size(); lane++) {
			this.lanes.engines().get(lane).dispatcher().close(this.tasks.get(lane));
		}
	}

	private void forEachOutstanding(Consumer<Delivery> action) {
		assignments().forEach((assignment) -> assignment.ledger().forEachOutstanding(action));
	}

}
