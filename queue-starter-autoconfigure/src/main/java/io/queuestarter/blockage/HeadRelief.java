package io.queuestarter.blockage;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.QueueException;
import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.ledger.PartitionLedger;
import io.queuestarter.log.LogLimit;
import io.queuestarter.settle.Settler;

/**
 * Moves records aside that keep a partition from going on: those that hold the watermark
 * of a window nearly full of settled records, and those that hold it for too long. Each
 * costs a token of the failure budget, so that an outage moves nothing. Where a lane
 * alone fills the window, and there is a park topic, all of its records that do not run,
 * or take long, are moved there, so that other lanes go on. <em>Consumer thread
 * only.</em>
 * <p>
 * Source of the rule and its thresholds: the head-of-line blocking mitigation of Uber's
 * uForwarder; the age, the count of holders and several victims at a time are ours.
 */
public final class HeadRelief {

	private static final Logger LOGGER = LoggerFactory.getLogger(HeadRelief.class);

	private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	private final BlockageRule rule;

	private final List<LaneProgress> lanes;

	private final boolean parks;

	private final LogLimit moves;

	private long lookedNanos;

	/**
	 * Creates a relief.
	 * @param rule when a partition counts as blocked
	 * @param lanes the lanes, by their index
	 * @param parks whether records moved aside are still handled, at another place
	 * @param moves tells of records moved aside
	 * @param nowNanos the time
	 */
	public HeadRelief(BlockageRule rule, List<LaneProgress> lanes, boolean parks, LogLimit moves, long nowNanos) {
		this.rule = rule;
		this.lanes = lanes;
		this.parks = parks;
		this.moves = moves;
		this.lookedNanos = nowNanos;
	}

	/**
	 * Looks at partitions, if it is time to.
	 * @param assignments the partitions
	 * @param nowNanos the time
	 */
	public void lookIfDue(Iterable<Assignment> assignments, long nowNanos) {
		if (this.rule.enabled() && nowNanos - this.lookedNanos >= INTERVAL_NANOS) {
			this.lookedNanos = nowNanos;
			for (int lane = 0; lane < this.lanes.size(); lane++) {
				this.lanes.get(lane).look(isIdle(assignments, lane), nowNanos);
			}
			assignments.forEach((assignment) -> look(assignment, nowNanos));
		}
	}

	private static boolean isIdle(Iterable<Assignment> assignments, int lane) {
		for (Assignment assignment : assignments) {
			if (assignment.outstanding(lane) > 0) {
				return false;
			}
		}
		return true;
	}

	private void look(Assignment assignment, long nowNanos) {
		PartitionLedger<Delivery> ledger = assignment.ledger();
		int tracked = ledger.tracked();
		if (tracked == 0) {
			return;
		}
		int settled = ledger.settled();
		boolean blocked = this.rule.isBlocked(ledger.window(), tracked, settled);
		int lane = (blocked && !this.parks) ? -1 : laneThatFills(assignment, tracked, settled, nowNanos);
		if (lane >= 0) {
			relieve(assignment, lane, nowNanos);
			return;
		}
		Delivery head = ledger.head();
		if (!blocked && (head == null || !isOld(head, nowNanos))) {
			return;
		}
		List<Delivery> holders = new ArrayList<>();
		ledger.forEachOutstanding((delivery) -> {
			boolean holds = (blocked && isToBlame(delivery, nowNanos)) || isOld(delivery, nowNanos);
			if (holds && holders.size() < this.rule.victims()) {
				holders.add(delivery);
			}
		});
		int moved = 0;
		for (Delivery holder : holders) {
			moved += moveAside(holder, nowNanos) ? 1 : 0;
		}
		if (moved > 0) {
			this.moves.warn(LOGGER, "{} of {} records that held '{}' at {} were moved aside, {}", moved, holders.size(),
					assignment.partition(), ledger.watermark(), blocked ? "its window was full of settled records"
							: "they were older than " + this.rule.maxHeadAge());
		}
	}

	private Settler settler(Delivery delivery) {
		return this.lanes.get(delivery.context().index()).settler();
	}

	/**
	 * Index of a lane that does not go on, and without which the window would count as
	 * full of settled records; or -1. One that goes on may fill the window by what it has
	 * before it, and is none.
	 */
	private int laneThatFills(Assignment assignment, int tracked, int settled, long nowNanos) {
		for (int lane = 0; this.lanes.size() > 1 && lane < this.lanes.size(); lane++) {
			int open = assignment.outstanding(lane);
			if (open > 0 && this.lanes.get(lane).isJammed(nowNanos)
					&& this.rule.isBlockedBut(assignment.ledger().window(), tracked, settled, open)) {
				return lane;
			}
		}
		return -1;
	}

	/**
	 * Parking gives up nothing, so it needs no token, and no sign that the records are to
	 * blame.
	 */
	private void relieve(Assignment assignment, int lane, long nowNanos) {
		List<Delivery> holders = new ArrayList<>();
		assignment.ledger().forEachOutstanding((delivery) -> {
			boolean holds = this.parks ? isSlow(delivery, nowNanos)
					: isToBlame(delivery, nowNanos) && holders.size() < this.rule.victims();
			if (delivery.context().index() == lane && holds) {
				holders.add(delivery);
			}
		});
		int moved = 0;
		for (Delivery holder : holders) {
			moved += (this.parks ? park(holder) : moveAside(holder, nowNanos)) ? 1 : 0;
		}
		if (!holders.isEmpty()) {
			this.lanes.get(lane).settler().forgetMoved(assignment.queues().own().get(lane));
		}
		if (moved > 0) {
			this.moves.warn(LOGGER, "{} of {} records of lane '{}' that filled the window of '{}' were moved aside",
					moved, holders.size(), holders.get(0).context().lane(), assignment.partition());
		}
	}

	/** Whether nobody handles the record, or for long. */
	private static boolean isSlow(Delivery delivery, long nowNanos) {
		Attempt attempt = delivery.attempt();
		return switch (delivery.state()) {
			case IN_FLIGHT -> attempt != null && attempt.isHalfOver(nowNanos);
			case BACKOFF, QUEUED -> true;
			default -> false;
		};
	}

	private boolean park(Delivery delivery) {
		return settler(delivery).moveAside(delivery,
				new QueueException("Its lane filled the window of its partition", null));
	}

	/**
	 * Whether the record itself is to blame: its attempt takes long while others succeed
	 * that began later, or it failed while others succeeded, or for longer than the
	 * patience with outages. One that waits for its first attempt, or asked to be tried
	 * later, is not, nor one that is handled together with others.
	 */
	private static boolean isToBlame(Delivery delivery, long nowNanos) {
		Attempt attempt = delivery.attempt();
		if (attempt == null) {
			return false;
		}
		return switch (delivery.state()) {
			case IN_FLIGHT -> !attempt.isShared() && attempt.isHalfOver(nowNanos)
					&& (delivery.isAtFault() || attempt.circuit().answersSince(attempt.startedNanos()));
			case BACKOFF, QUEUED -> delivery.isAtFault();
			default -> false;
		};
	}

	private boolean isOld(Delivery delivery, long nowNanos) {
		Attempt attempt = delivery.attempt();
		if (attempt == null || !isToBlame(delivery, nowNanos)) {
			return false;
		}
		long since = delivery.hasFailed() ? delivery.firstFailureNanos() : attempt.startedNanos();
		return nowNanos - since >= this.rule.maxHeadAge().toNanos();
	}

	private boolean moveAside(Delivery delivery, long nowNanos) {
		Attempt attempt = delivery.attempt();
		if (attempt == null || !attempt.circuit().mayMoveAside(nowNanos)) {
			return false;
		}
		boolean moved = settler(delivery).moveAside(delivery,
				new QueueException("Held the watermark of its partition in state " + delivery.state(), null));
		if (!moved) {
			attempt.circuit().refund();
		}
		return moved;
	}

}
