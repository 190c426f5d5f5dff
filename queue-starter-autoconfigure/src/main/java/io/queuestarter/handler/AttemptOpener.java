package io.queuestarter.handler;

import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.AttemptTimeout;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.outage.Circuit;
import io.queuestarter.outage.Circuits;

/**
 * Opens attempts, if what they depend on permits. <em>Thread-safe.</em>
 *
 * @param answers who receives the answers
 * @param time where the time is read
 * @param timeout longest time of an attempt
 * @param circuits tell what a record depends on
 */
public record AttemptOpener(Answers answers, TimeSource time, AttemptTimeout timeout, Circuits circuits) {

	/**
	 * Opens an attempt. Breakers and their keys are user code.
	 * @return the attempt, or {@code null} if there is none now; that has been told
	 */
	@Nullable Attempt open(Delivery delivery, int slot) {
		Circuit acquired = null;
		try {
			Circuit circuit = this.circuits.of(delivery.record());
			if (!circuit.tryAcquire()) {
				this.answers.refused(delivery, circuit);
				return null;
			}
			acquired = circuit;
			Attempt attempt = delivery.start(this.answers, slot, this.time, this.timeout, circuit);
			if (attempt == null) {
				circuit.released();
			}
			return attempt;
		}
		catch (Throwable ex) {
			if (acquired != null) {
				acquired.released();
			}
			this.answers.notStarted(delivery, ex);
			return null;
		}
	}

}
