package io.queuestarter.container;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.springframework.kafka.listener.BatchListenerFailedException;
import org.springframework.kafka.support.Acknowledgment;

import io.queuestarter.QueueBatchException;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.HandlerCall;

/**
 * One call of a handler that takes batches.
 */
final class SimulatedBatch implements SimulatedCall {

	private final Simulation simulation;

	private final List<SimulatedAttempt> attempts;

	private final HandlerCall call;

	/** Records that are to be tried alone. */
	private final Set<Delivery> alone;

	SimulatedBatch(Simulation simulation, List<SimulatedAttempt> attempts, HandlerCall call, Set<Delivery> alone) {
		this.simulation = simulation;
		this.attempts = attempts;
		this.call = call;
		this.alone = alone;
	}

	/** Those that are not answered yet succeed. */
	void succeeds() {
		succeeds(this.attempts);
	}

	private void succeeds(List<SimulatedAttempt> some) {
		some.forEach(SimulatedAttempt::succeeds);
		this.simulation.note("%s succeed", some);
	}

	/** Some of the records fail, or all of them, or one that the others waited for. */
	RuntimeException fails() {
		int index = this.simulation.upTo(this.attempts.size()) - 1;
		return switch (this.simulation.upTo(3)) {
			case 1 -> failsAsAWhole();
			case 2 -> {
				failsAt(index);
				yield new BatchListenerFailedException("Fails", index);
			}
			default -> failsHereAndThere(index);
		};
	}

	private RuntimeException failsAsAWhole() {
		if (this.attempts.size() > 1) {
			this.attempts.stream()
				.filter(SimulatedAttempt::counts)
				.forEach((attempt) -> this.alone.add(attempt.attempt.delivery()));
		}
		this.attempts.forEach(SimulatedAttempt::fails);
		this.simulation.note("%s fail", this.attempts);
		return new IllegalStateException("Fails");
	}

	private RuntimeException failsHereAndThere(int first) {
		Map<Integer, Throwable> failures = new HashMap<>();
		for (int index = 0; index < this.attempts.size(); index++) {
			if (index == first || this.simulation.happens(20)) {
				failures.put(index, new IllegalStateException("Fails"));
				this.attempts.get(index).fails();
			}
			else {
				this.attempts.get(index).succeeds();
			}
		}
		this.simulation.note("%s of %s fail", failures.keySet(), this.attempts);
		return new QueueBatchException(failures);
	}

	private void failsAt(int index) {
		succeeds(this.attempts.subList(0, index));
		this.attempts.subList(index, this.attempts.size()).forEach(SimulatedAttempt::fails);
		this.simulation.note("%s fails, those behind it are not reached", this.attempts.get(index));
	}

	@Override
	public boolean answer() {
		int size = this.attempts.size();
		if (this.simulation.fails(12)) {
			this.call.failed(fails());
		}
		else if (this.simulation.fails(5)) {
			int index = this.simulation.upTo(size) - 1;
			failsAt(index);
			acknowledgment().nack(index, Duration.ofMillis(this.simulation.upTo(500) - 1));
		}
		else if (size > 1 && this.simulation.fails(20)) {
			int count = this.simulation.upTo(size - 1);
			succeeds(this.attempts.subList(0, count));
			acknowledgment().acknowledge(count - 1);
			return false;
		}
		else {
			succeeds();
			this.call.handled();
		}
		return true;
	}

	private Acknowledgment acknowledgment() {
		return (Acknowledgment) this.call;
	}

	@Override
	public void answerAgain() {
		if (this.simulation.happens(50)) {
			this.call.handled();
		}
		else {
			this.call.failed(new IllegalStateException("late"));
		}
	}

}
