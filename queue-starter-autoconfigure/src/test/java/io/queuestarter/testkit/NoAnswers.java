package io.queuestarter.testkit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.outage.Circuit;

/**
 * Notes every answer and draws no consequence.
 */
public final class NoAnswers implements Answers {

	private final List<String> received = new CopyOnWriteArrayList<>();

	public List<String> received() {
		return this.received;
	}

	@Override
	public void handled(Attempt attempt) {
		this.received.add("handled");
	}

	@Override
	public void failed(Attempt attempt, Throwable error) {
		this.received.add("failed");
	}

	@Override
	public void failedTogether(Attempt attempt, Throwable error) {
		this.received.add("failedTogether");
	}

	@Override
	public void notReached(Attempt attempt) {
		this.received.add("notReached");
	}

	@Override
	public void retryAfter(Attempt attempt, Duration delay) {
		this.received.add("retryAfter " + delay);
	}

	@Override
	public void rejected(Attempt attempt, String reason) {
		this.received.add("rejected " + reason);
	}

	@Override
	public void refused(Delivery delivery, Circuit circuit) {
		this.received.add("refused");
	}

	@Override
	public void notStarted(Delivery queued, Throwable error) {
		this.received.add("notStarted");
	}

	@Override
	public void abandoned(Attempt attempt) {
		attempt.claim();
		this.received.add("abandoned");
	}

}
