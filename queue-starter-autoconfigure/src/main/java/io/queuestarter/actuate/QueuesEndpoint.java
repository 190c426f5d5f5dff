package io.queuestarter.actuate;

import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

import io.queuestarter.container.PartitionView;
import io.queuestarter.container.PartitionView.Head;
import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueLane;
import io.queuestarter.container.QueueSettings.Origin;
import io.queuestarter.container.Queues;
import io.queuestarter.observe.DeadLetterWatch;
import io.queuestarter.observe.Doctor;
import io.queuestarter.observe.Finding;
import io.queuestarter.outage.CircuitState;

/**
 * Endpoint {@code queues}: the queues of this process, their partitions, and which record
 * holds each watermark. Reads snapshots; never asks a broker.
 */
@Endpoint(id = "queues")
public class QueuesEndpoint {

	private static final String INSTANCE = ManagementFactory.getRuntimeMXBean().getName();

	private final Queues queues;

	private final Doctor doctor;

	private final DeadLetterWatch deadLetters;

	/**
	 * Creates the endpoint.
	 * @param queues the queues
	 * @param doctor who says what threatens them
	 * @param deadLetters who counts the dead letters that are not resolved
	 */
	public QueuesEndpoint(Queues queues, Doctor doctor, DeadLetterWatch deadLetters) {
		this.queues = queues;
		this.doctor = doctor;
		this.deadLetters = deadLetters;
	}

	/**
	 * All queues of this process.
	 * @return one summary a queue
	 */
	@ReadOperation
	public QueueList list() {
		return new QueueList(INSTANCE, "instance", this.queues.all().stream().map(this::summary).toList());
	}

	/**
	 * One queue in full.
	 * @param id its id
	 * @return the queue, or {@code null} if there is none of this id
	 */
	@ReadOperation
	public @Nullable QueueDetail detail(@Selector String id) {
		return this.queues.find(id)
			.map((queue) -> QueueDetail.of(queue, summary(queue), this.doctor.findings(queue)))
			.orElse(null);
	}

	private QueueSummary summary(Queue queue) {
		return QueueSummary.of(queue, this.deadLetters.depth(queue));
	}

	/**
	 * Answer of the list.
	 *
	 * @param instance this process
	 * @param scope what the answer speaks of: always this process alone
	 * @param queues the queues by id
	 */
	public record QueueList(String instance, String scope, List<QueueSummary> queues) {

	}

	/**
	 * A queue in short.
	 *
	 * @param id its id
	 * @param topics what it subscribes to: topics, or one pattern
	 * @param group its consumer group
	 * @param state where it stands in its life
	 * @param partitions number of partitions assigned to this process
	 * @param lag records not committed, of these partitions
	 * @param outstanding records fetched and not settled
	 * @param inFlight records handled at this moment
	 * @param limit largest number of records handled at one time
	 * @param buffered records that wait for a thread
	 * @param waitingForTurn records that wait for others in front of them, by the
	 * ordering
	 * @param retryWaiting records that wait for their next attempt
	 * @param deadLettersWaiting records that wait to be written to the dead-letter topic
	 * @param dlqDepth dead letters that are not resolved, of all instances, as last
	 * counted; {@code null} before the first count
	 * @param headAge largest age of a record that holds a watermark
	 * @param acked records handled so far
	 * @param deadLettered records dead-lettered so far
	 * @param skipped records settled without being handled, since their lane is not
	 * served here
	 */
	public record QueueSummary(String id, Collection<String> topics, String group, String state, int partitions,
			long lag, int outstanding, int inFlight, int limit, int buffered, int waitingForTurn, int retryWaiting,
			int deadLettersWaiting, @Nullable Long dlqDepth, String headAge, long acked, long deadLettered,
			long skipped) {

		static QueueSummary of(Queue queue, @Nullable Long dlqDepth) {
			List<PartitionView> partitions = queue.partitions();
			return new QueueSummary(queue.id(), queue.subscription(), queue.group(), queue.state().name(),
					partitions.size(), partitions.stream().mapToLong((partition) -> Math.max(0, partition.lag())).sum(),
					partitions.stream().mapToInt(PartitionView::outstanding).sum(), queue.inFlight(), queue.limit(),
					queue.buffered(), queue.waitingForTurn(), queue.retryWaiting(), queue.deadLettersWaiting(),
					dlqDepth, queue.headAge().toString(), queue.outcomes().acknowledgedCount(), queue.deadLettered(),
					queue.skipped());
		}

	}

	/**
	 * A queue in full.
	 *
	 * @param summary the queue in short
	 * @param deadLetterProblem what keeps dead letters from being written, if anything
	 * does
	 * @param pollProblem what the last poll failed with, if it did
	 * @param commitProblem what the last commit failed with, if it did
	 * @param findings what threatens its promises
	 * @param circuits its circuit breakers and what may be given up
	 * @param lanes the lanes that this process serves; empty if the queue has none
	 * @param leaked handlers that ignore that they were cancelled, and whose places
	 * others have
	 * @param settings value and source of each setting
	 * @param partitionList the partitions assigned to this process
	 */
	public record QueueDetail(QueueSummary summary, @Nullable String deadLetterProblem, @Nullable String pollProblem,
			@Nullable String commitProblem, List<Finding> findings, List<CircuitState> circuits, List<LaneDetail> lanes,
			int leaked, Map<String, Origin> settings, List<PartitionDetail> partitionList) {

		static QueueDetail of(Queue queue, QueueSummary summary, List<Finding> findings) {
			return new QueueDetail(summary, queue.deadLetterProblem(), queue.pollProblem(), queue.commitProblem(),
					findings, queue.circuitStates(), queue.servedLanes().stream().map(LaneDetail::of).toList(),
					queue.leaked(), queue.settings().origins(),
					queue.partitions().stream().map(PartitionDetail::of).toList());
		}

	}

	/**
	 * A lane.
	 *
	 * @param name its name
	 * @param inFlight its records handled at this moment
	 * @param limit largest number of its records handled at one time
	 * @param buffered its records that wait for a thread
	 * @param retryWaiting its records that wait for their next attempt
	 * @param outstanding its records fetched and not settled
	 * @param acked its records handled so far
	 * @param circuits its circuit breakers and what may be given up
	 */
	public record LaneDetail(String name, int inFlight, int limit, int buffered, int retryWaiting, int outstanding,
			long acked, List<CircuitState> circuits) {

		static LaneDetail of(QueueLane lane) {
			return new LaneDetail(lane.name(), lane.inFlight(), lane.limit(), lane.buffered(), lane.retryWaiting(),
					lane.outstanding(), lane.outcomes().acknowledgedCount(), lane.circuitStates());
		}

	}

	/**
	 * A partition.
	 *
	 * @param topic its topic
	 * @param partition its number
	 * @param state {@code RUNNING}, {@code PAUSED} while its bounds keep it from being
	 * fetched, or {@code RESTING} while its next record is not due
	 * @param restsUntil when that record is due, if one rests
	 * @param committed offset last committed, -1 if not known
	 * @param watermark lowest offset not settled
	 * @param highestSeen highest offset admitted
	 * @param end end of the log as last seen, -1 if not known
	 * @param lag records not committed, -1 if not known
	 * @param outstanding records fetched and not settled
	 * @param ledger the window
	 * @param head the record that holds the watermark, if one does
	 */
	public record PartitionDetail(String topic, int partition, String state, @Nullable Instant restsUntil,
			long committed, long watermark, long highestSeen, long end, long lag, int outstanding, LedgerDetail ledger,
			@Nullable HeadDetail head) {

		static PartitionDetail of(PartitionView view) {
			Head head = view.head();
			return new PartitionDetail(view.partition().topic(), view.partition().partition(), stateOf(view),
					view.restsUntil(), view.committed(), view.watermark(), view.next() - 1, view.end(), view.lag(),
					view.outstanding(),
					new LedgerDetail(view.window(), view.tracked(), view.fill(), view.settled(),
							view.commit().metadataLength(), view.commit().truncated()),
					(head != null) ? new HeadDetail(head.offset(), head.lane(), head.age().toString(), head.state(),
							head.attempt(), head.error(), head.nextAttempt()) : null);
		}

		private static String stateOf(PartitionView view) {
			if (view.restsUntil() != null) {
				return "RESTING";
			}
			return view.paused() ? "PAUSED" : "RUNNING";
		}

	}

	/**
	 * The window of a partition.
	 *
	 * @param capacity largest number of records tracked
	 * @param tracked records tracked from the watermark on
	 * @param fill share of the capacity in use, from 0 to 1
	 * @param acked settled records among those tracked
	 * @param metadataLength characters of metadata last committed
	 * @param truncated whether the metadata had no room for all settled offsets
	 */
	public record LedgerDetail(int capacity, int tracked, double fill, int acked, int metadataLength,
			boolean truncated) {

	}

	/**
	 * The record that holds a watermark.
	 *
	 * @param offset its offset
	 * @param lane lane that it belongs to, served here or not
	 * @param age time since it was fetched
	 * @param state where it stands
	 * @param attempt number of the attempt
	 * @param error what the last attempt failed with, if one did
	 * @param nextAttempt when its back-off ends, if it is in one
	 */
	public record HeadDetail(long offset, String lane, String age, String state, int attempt, @Nullable String error,
			@Nullable Instant nextAttempt) {

	}

}
