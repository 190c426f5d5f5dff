package io.queuestarter.handler;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.support.Acknowledgment;

import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.HandlerCall;

/**
 * One call of a handler for the records of a batch, and its {@link Acknowledgment}.
 * <em>Thread-safe</em>, except where a method says otherwise.
 */
/*
 * The thread is interrupted when nobody waits for any of the records: one that is moved
 * aside, or whose partition is lost, does not disturb the others. Under the lock, so that
 * the interrupt does not hit the next call of the thread.
 */
final class BatchCall implements HandlerCall, Acknowledgment {

	private final List<Attempt> attempts;

	private final Answers answers;

	private final ReentrantLock lock = new ReentrantLock();

	/** Runs the handler. */
	@GuardedBy("lock")
	private @Nullable Thread worker;

	@GuardedBy("lock")
	private @Nullable Runnable cancellation;

	/** Attempts whose records the handler gets; set by the worker before. */
	private volatile List<Attempt> handed;

	/** Worker thread only. */
	private boolean awaited;

	BatchCall(List<Attempt> attempts, Answers answers) {
		this.attempts = attempts;
		this.handed = attempts;
		this.answers = answers;
	}

	/** The calling thread begins. */
	void enter() {
		this.lock.lock();
		try {
			this.worker = Thread.currentThread();
		}
		finally {
			this.lock.unlock();
		}
		boolean others = this.attempts.size() > 1;
		this.attempts.forEach((attempt) -> attempt.enterBatch(this::cancelled, others));
	}

	/** The calling thread has ended; its interrupt flag is clear afterwards. */
	void leave() {
		this.lock.lock();
		try {
			this.worker = null;
		}
		finally {
			this.lock.unlock();
		}
		Thread.interrupted();
		this.attempts.forEach(Attempt::leaveBatch);
	}

	/** Records that are not decodable fail alone. Worker thread only. */
	List<ConsumerRecord<Object, Object>> decode(RecordDecoder decoder) {
		List<ConsumerRecord<Object, Object>> records = new ArrayList<>(this.attempts.size());
		List<Attempt> decoded = new ArrayList<>(this.attempts.size());
		for (Attempt attempt : this.attempts) {
			try {
				records.add(decoder.decode(attempt.record(), attempt.slot()));
				decoded.add(attempt);
			}
			catch (Throwable ex) {
				this.answers.failed(attempt, ex);
			}
		}
		this.handed = decoded;
		return records;
	}

	/** One of the attempts was cancelled. */
	private void cancelled() {
		Runnable action;
		this.lock.lock();
		try {
			if (!isUnwanted()) {
				return;
			}
			if (this.worker != null) {
				this.worker.interrupt();
			}
			action = this.cancellation;
			this.cancellation = null;
		}
		finally {
			this.lock.unlock();
		}
		if (action != null) {
			action.run();
		}
	}

	private boolean isUnwanted() {
		return this.attempts.stream().allMatch((attempt) -> attempt.isCancelled() || attempt.isDecided());
	}

	@Override
	public void onCancel(Runnable action) {
		this.lock.lock();
		try {
			this.cancellation = action;
		}
		finally {
			this.lock.unlock();
		}
		if (this.attempts.stream().anyMatch(Attempt::isCancelled)) {
			cancelled();
		}
	}

	@Override
	public void called() {
		this.handed.forEach(Attempt::called);
	}

	@Override
	public void awaitAnswer() {
		this.awaited = true;
	}

	/** Worker thread only. */
	boolean isAwaited() {
		return this.awaited;
	}

	@Override
	public void run(Runnable task) {
		task.run();
	}

	@Override
	public void handled() {
		this.handed.forEach(this.answers::handled);
	}

	@Override
	public void failed(Throwable error) {
		List<Attempt> records = this.handed;
		BatchFailures failures = BatchFailures.of(error, records);
		for (int index = 0; index < records.size(); index++) {
			Attempt attempt = records.get(index);
			Throwable own = failures.named().get(index);
			if (own != null) {
				this.answers.failed(attempt, own);
			}
			else if (failures.named().isEmpty()) {
				this.answers.failedTogether(attempt, error);
			}
			else if (index < failures.reached()) {
				this.answers.handled(attempt);
			}
			else {
				this.answers.notReached(attempt);
			}
		}
	}

	@Override
	public void acknowledge() {
		handled();
	}

	@Override
	public void acknowledge(int index) {
		this.handed.subList(0, index + 1).forEach(this.answers::handled);
	}

	@Override
	public void nack(Duration sleep) {
		nack(0, sleep);
	}

	@Override
	public void nack(int index, Duration sleep) {
		List<Attempt> records = this.handed;
		records.get(index).retryAfter(sleep);
		records.subList(0, index).forEach(this.answers::handled);
		records.subList(index + 1, records.size()).forEach(this.answers::notReached);
	}

	@Override
	public boolean isOutOfOrderCommit() {
		return true;
	}

}
