package io.queuestarter.jobs;

import java.time.Duration;

import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.browse.DeadLetter;

/**
 * Takes dead letters one after the other, oldest first, has them moved, and remembers
 * which are resolved. <em>For the thread of one job.</em>
 */
/*
 * The number of letters under way, plus those resolved that no commit tells of yet, is
 * bounded by the batch: so many repeats a process can leave that dies. A letter is
 * resolved when its handler has succeeded, or the broker has acknowledged its copy or its
 * new dead letter, and never before.
 */
final class LetterLoop {

	private static final Logger LOGGER = LoggerFactory.getLogger(LetterLoop.class);

	/** Letters in a row that the target does not take until the job gives up. */
	private static final int MOST_FAILURES = 20;

	private static final Duration POLL = Duration.ofMillis(50);

	private static final Duration TAKE = Duration.ofSeconds(1);

	private static final Duration BUSY_POLL = Duration.ofMillis(2);

	private static final Duration COMMIT_INTERVAL = Duration.ofMillis(200);

	private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

	private static final Duration DRAIN = Duration.ofSeconds(10);

	private final Job job;

	private final int batch;

	private final Runnable lockCheck;

	private final LetterFeed feed;

	private final ResolvedLog resolved;

	private final Mover mover;

	private final LetterJudge judge;

	private final @Nullable RateLimiter limiter;

	private long begun;

	private int failuresInARow;

	private boolean finishing;

	private long nextCommit = System.nanoTime();

	private long nextLog = System.nanoTime() + LOG_INTERVAL.toNanos();

	/**
	 * Creates a loop.
	 * @param job the job
	 * @param batch bounds letters under way and those resolved that are not saved
	 * @param lockCheck throws if the letters are not this job's any more
	 * @param feed the letters
	 * @param resolved what is resolved
	 * @param mover moves letters
	 * @param judge says which must stay
	 */
	LetterLoop(Job job, int batch, Runnable lockCheck, LetterFeed feed, ResolvedLog resolved, Mover mover,
			LetterJudge judge) {
		this.job = job;
		this.batch = batch;
		this.lockCheck = lockCheck;
		this.feed = feed;
		this.resolved = resolved;
		this.mover = mover;
		this.judge = judge;
		this.limiter = limiter(job.request().rate());
	}

	/** Ten portions a second, or single letters if there are fewer. */
	private static @Nullable RateLimiter limiter(int rate) {
		if (rate <= 0) {
			return null;
		}
		int portion = Math.max(1, rate / 10);
		return RateLimiter.of("merge",
				RateLimiterConfig.custom()
					.limitForPeriod(portion)
					.limitRefreshPeriod(Duration.ofNanos(1_000_000_000L * portion / rate))
					.timeoutDuration(Duration.ZERO)
					.build());
	}

	void run() {
		while (!this.job.isCancelled() && !(isDone() && this.mover.inFlight() == 0)) {
			this.lockCheck.run();
			collect();
			String obstacle = this.mover.obstacle();
			boolean more = obstacle == null && takeAll();
			this.job.progress(this.feed.positions(), this.mover.inFlight(), obstacle);
			commitIfDue();
			logIfDue();
			boolean busy = more || this.mover.inFlight() > 0 || this.resolved.unsaved() > 0;
			this.feed.poll(busy ? BUSY_POLL : POLL, !isDone());
		}
	}

	private boolean isDone() {
		return this.feed.isExhausted() || this.begun >= this.job.request().max();
	}

	/**
	 * Answers whether more could be taken if more were polled. Not for long: a write may
	 * block, and the group must hear from this job.
	 */
	private boolean takeAll() {
		long limit = System.nanoTime() + TAKE.toNanos();
		while (this.begun < this.job.request().max()) {
			if (System.nanoTime() - limit > 0) {
				return true;
			}
			ConsumerRecord<byte[], byte[]> record = this.feed.peek();
			if (record == null) {
				return !this.feed.isExhausted();
			}
			if (!take(record)) {
				return false;
			}
		}
		return false;
	}

	/** Answers false if the letter must wait. */
	private boolean take(ConsumerRecord<byte[], byte[]> record) {
		DeadLetter letter = DeadLetter.of(record);
		TopicPartition partition = letter.partition();
		boolean matches = !this.resolved.of(partition).contains(record.offset())
				&& this.job.request().filter().matches(letter);
		SkipReason reason = matches ? this.judge.reasonToStay(letter) : null;
		boolean moves = matches && reason == null;
		if (moves && !(isMemorable(partition, record.offset()) && mayMove())) {
			return false;
		}
		long expected = this.feed.take(record);
		if (expected < record.offset()) {
			this.resolved.of(partition).addHole(expected, record.offset() - 1);
		}
		this.job.scanned();
		if (reason != null) {
			this.job.skipped(letter, reason);
		}
		if (moves) {
			this.begun++;
			this.resolved.of(partition).begin();
			this.mover.move(letter);
		}
		return true;
	}

	/** What could not be remembered is not moved. */
	private boolean isMemorable(TopicPartition partition, long offset) {
		ResolvedOffsets offsets = this.resolved.of(partition);
		if (offsets.hasRoom(offset)) {
			return true;
		}
		if (offsets.isPending()) {
			return false;
		}
		throw new ResolvedSetFullException();
	}

	private boolean mayMove() {
		return this.mover.inFlight() + this.resolved.unsaved() < this.batch && this.mover.hasRoom()
				&& (this.limiter == null || this.limiter.acquirePermission());
	}

	private void collect() {
		this.mover.collect((letter, result) -> {
			this.resolved.of(letter.partition()).end();
			switch (result.end()) {
				case DONE, FAILED_AGAIN -> {
					this.failuresInARow = 0;
					this.resolved.resolved(letter.partition(), letter.offset());
					this.job.moved(result.end() == MoveResult.End.FAILED_AGAIN);
				}
				case LET_GO -> {
					if (!this.finishing) {
						this.job.failed(letter, "let_go", "let go, since the queue could not go on");
					}
				}
				case UNFIT -> this.job.failed(letter, name(result), String.valueOf(result.error()));
				case REFUSED -> refused(letter, result);
				case FAILED -> failed(letter, result);
			}
		});
	}

	private void refused(DeadLetter letter, MoveResult result) {
		String reason = (result.error() != null) ? String.valueOf(result.error().getMessage()) : "refused";
		this.job.failed(letter, reason, reason);
	}

	private void failed(DeadLetter letter, MoveResult result) {
		this.job.failed(letter, name(result), String.valueOf(result.error()));
		if (++this.failuresInARow >= MOST_FAILURES && !this.finishing) {
			throw new JobFailedException(MOST_FAILURES
					+ " dead letters in a row could not be moved and stay, the last one since " + result.error(), null);
		}
	}

	private static String name(MoveResult result) {
		return (result.error() != null) ? result.error().getClass().getSimpleName() : "unknown";
	}

	private void commitIfDue() {
		long now = System.nanoTime();
		if (now - this.nextCommit >= 0 || this.resolved.unsaved() >= this.batch / 2) {
			this.nextCommit = now + COMMIT_INTERVAL.toNanos();
			this.resolved.commit();
		}
	}

	private void logIfDue() {
		long now = System.nanoTime();
		if (now - this.nextLog >= 0) {
			this.nextLog = now + LOG_INTERVAL.toNanos();
			LOGGER.info("{}: {}", this.job, this.job.summary());
		}
	}

	/**
	 * Waits for what is under way, gives up what takes too long, and saves what is
	 * resolved: last, so that nothing ends well of which it does not tell.
	 */
	void finish() {
		this.finishing = true;
		this.mover.stop();
		long limit = System.nanoTime() + DRAIN.toNanos();
		collect();
		while (this.mover.inFlight() > 0 && System.nanoTime() - limit < 0) {
			this.feed.poll(BUSY_POLL, false);
			collect();
		}
		this.mover.close();
		collect();
		this.job.progress(this.feed.positions(), this.mover.inFlight(), null);
		this.feed.forEachTail((partition, first, last) -> this.resolved.of(partition).addHole(first, last));
		this.resolved.save();
	}

}
