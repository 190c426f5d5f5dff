package io.queuestarter.delivery;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Notes every answer and draws no consequence.
 */
class NoAnswers implements Answers {

	final List<String> received = new CopyOnWriteArrayList<>();

	@Override
	public void handled(Attempt attempt) {
		this.received.add("handled");
	}

	@Override
	public void failed(Attempt attempt, Throwable error) {
		this.received.add("failed");
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
	public void abandoned(Attempt attempt) {
		attempt.claim();
		this.received.add("abandoned");
	}

}
