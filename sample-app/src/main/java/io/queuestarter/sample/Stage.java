package io.queuestarter.sample;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.stereotype.Component;

import io.queuestarter.container.Queues;

/**
 * Sets one listener and its traffic going at a time.
 */
@Component
final class Stage {

	private final KafkaListenerEndpointRegistry listeners;

	private final Queues queues;

	private final Cluster cluster;

	private final Providers providers;

	private final Billing billing;

	private final Traffic traffic;

	private final DemoProperties demo;

	Stage(KafkaListenerEndpointRegistry listeners, Queues queues, Cluster cluster, Providers providers, Billing billing,
			Traffic traffic, DemoProperties demo) {
		this.listeners = listeners;
		this.queues = queues;
		this.cluster = cluster;
		this.providers = providers;
		this.billing = billing;
		this.traffic = traffic;
		this.demo = demo;
	}

	/**
	 * Starts a listener at the end of its topic, with providers that are well. Its first
	 * trips warm it up and are not counted.
	 */
	Run open(Design design) throws InterruptedException {
		this.providers.calm(this.demo.fast());
		this.cluster.skipToEnd(design);
		container(design).start();
		Tally warmUp = this.billing.newTally();
		this.traffic.start(design, warmUp, usual());
		await(() -> warmUp.charged() > 0, design);
		this.traffic.stop();
		await(() -> warmUp.waiting() == 0, design);
		return restart(design, this.cluster.end(design.topic()));
	}

	private void await(BooleanSupplier condition, Design design) throws InterruptedException {
		long deadline = System.nanoTime() + this.demo.patience().toNanos();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() > deadline) {
				throw new IllegalStateException("Listener '%s' charged nothing within %d s".formatted(design.listener(),
						this.demo.patience().toSeconds()));
			}
			TimeUnit.MILLISECONDS.sleep(20);
		}
	}

	private Load usual() {
		return new Load(this.demo.rate(), 0);
	}

	/** Counts afresh, from an offset on, while listener and traffic go on. */
	Run restart(Design design, long start) {
		return restart(design, start, usual());
	}

	/** The same, with other traffic. */
	Run restart(Design design, long start, Load load) {
		Tally tally = this.billing.newTally();
		this.traffic.start(design, tally, load);
		Watch watch = (design == Design.QUEUE)
				? new QueueWatch(this.queues.find(design.listener()).orElseThrow(), this.providers)
				: new PlainWatch(design, start, tally, this.cluster, this.providers);
		return new Run(design, tally, watch, (cents) -> this.traffic.slipIn(design, tally, cents));
	}

	/** Goes on with other traffic, counted with what was before. */
	void send(Run run, Load load) {
		this.traffic.start(run.design(), run.tally(), load);
	}

	/** Sends nothing more; the listener goes on. */
	void silence() {
		this.traffic.stop();
	}

	/** Stops a listener; calls under way are answered at once. */
	void close(Design design) {
		this.traffic.stop();
		this.providers.calm(this.demo.fast());
		container(design).stop();
	}

	private MessageListenerContainer container(Design design) {
		return Objects.requireNonNull(this.listeners.getListenerContainer(design.listener()));
	}

}
