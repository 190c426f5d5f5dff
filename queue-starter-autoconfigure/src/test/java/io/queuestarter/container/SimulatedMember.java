package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Assignment;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.PartitionLedger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One consumer thread of the simulation: a real gate in front of a simulated consumer,
 * and what the listener container does with it.
 */
final class SimulatedMember {

	private final Simulation simulation;

	private final SimulatedConsumer kafka;

	private final Signal signal = new Signal();

	private final QueueConsumer queue;

	private final ConsumerGate gate;

	private final Consumer<byte[], byte[]> consumer;

	private final Set<TopicPartition> pausedByContainer = new HashSet<>();

	/** Of assignments of which a record was handled. */
	private final Map<Assignment, Ownership> ownerships = new WeakHashMap<>();

	/** Whether the last poll waited in vain, with all partitions paused. */
	private boolean waited;

	private boolean raised;

	/** Times that the signal was raised. */
	private int signals;

	/** Whether the last poll drained partitions, which may take the signal. */
	private boolean drained;

	private boolean dropped;

	private boolean leaving;

	SimulatedMember(String name, Simulation simulation, Queue queue) {
		this.simulation = simulation;
		this.kafka = new SimulatedConsumer(name, simulation, this::checkPaused);
		this.queue = queue.add(this.kafka.proxy(), this.signal);
		this.gate = new ConsumerGate(this.kafka.proxy(), this.queue, (error) -> {
		});
		this.consumer = this.gate.proxy();
		subscribe();
	}

	private void subscribe() {
		this.consumer.subscribe(List.of("orders"), new ConsumerRebalanceListener() {

			@Override
			public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
				// Nothing of the container's own.
			}

			@Override
			public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
				SimulatedMember.this.pausedByContainer.removeAll(partitions);
				SimulatedMember.this.drained = true;
			}

		});
	}

	SimulatedConsumer kafka() {
		return this.kafka;
	}

	void poll() {
		List<Ownership> before = List.copyOf(this.kafka.owned.values());
		Collection<TopicPartition> begunBefore = this.queue.intake().partitions();
		boolean asleep = this.waited && !this.raised && !this.drained;
		this.waited = false;
		this.drained = false;
		this.dropped = false;
		int signalsBefore = this.signals;
		ConsumerRecords<byte[], byte[]> records;
		try {
			records = this.consumer.poll(Duration.ofMillis(1 + this.simulation.upTo(200)));
		}
		catch (KafkaException | RejectedExecutionException ex) {
			this.simulation.note("%s polls: %s", this.kafka.name, ex);
			return;
		}
		boolean unchanged = before.equals(List.copyOf(this.kafka.owned.values()))
				&& begunBefore.equals(this.queue.intake().partitions());
		// Others go on also while the poll asks for committed offsets.
		if (asleep && unchanged && this.signals == signalsBefore) {
			assertThat(this.queue.intake().isAllPaused()).as("%s goes on without a signal", this.kafka.name).isTrue();
		}
		this.simulation.note("%s polled %s records of %s", this.kafka.name, records.count(), records.partitions());
		if (records.isEmpty()) {
			return;
		}
		// It waited before, and admits now.
		this.waited = false;
		if (this.simulation.fails(2)) {
			// As a container does that is stopped in between.
			this.dropped = true;
			return;
		}
		for (TopicPartition partition : records.partitions()) {
			this.kafka.owned.computeIfPresent(partition,
					(key, ownership) -> ownership.accepts(records.records(partition)));
		}
		try {
			this.gate.accept(records);
			checkAccepted();
		}
		catch (RejectedExecutionException ex) {
			this.simulation.note("%s admits: %s", this.kafka.name, ex);
		}
	}

	/** What an operator or the application does to the consumer. */
	void interfere() {
		if (this.kafka.owned.isEmpty() || this.dropped) {
			return;
		}
		Ownership ownership = this.simulation.shuffled(this.kafka.owned.values()).get(0);
		SimulatedLog log = ownership.log;
		switch (this.simulation.upTo(3)) {
			case 1 -> {
				this.consumer.pause(List.of(log.partition));
				this.pausedByContainer.add(log.partition);
			}
			case 2 -> {
				this.consumer.resume(this.pausedByContainer);
				this.pausedByContainer.clear();
			}
			default -> {
				boolean begun = this.queue.intake().partitions().contains(log.partition);
				if (begun && this.simulation.happens(20) && !this.kafka.isFenced()) {
					long position = log.start + this.simulation.upTo((int) (log.end - log.start) + 1) - 1;
					this.simulation.note("%s seeks %s to %s", this.kafka.name, log.partition, position);
					ownership.ended = true;
					Ownership successor = this.simulation.successor(ownership, position);
					log.giveUp(position);
					this.kafka.owned.put(log.partition, successor);
					this.consumer.seek(log.partition, position);
					this.waited = false;
				}
			}
		}
	}

	void resumeAll() {
		this.consumer.resume(Set.copyOf(this.consumer.paused()));
		this.pausedByContainer.clear();
	}

	void wakeUp() {
		this.simulation.note("%s is woken up", this.kafka.name);
		this.consumer.wakeup();
	}

	/** Stops, and starts again if the container does so. */
	void stop(boolean forGood) {
		this.simulation.note("%s leaves", this.kafka.name);
		this.kafka.leaving();
		this.leaving = true;
		if (forGood) {
			this.consumer.close();
		}
		else {
			this.consumer.unsubscribe();
			subscribe();
		}
		this.leaving = false;
		this.waited = false;
	}

	/** Fetched is what neither the queue nor the container wants paused. */
	private void checkPaused(Set<TopicPartition> paused) {
		if (!this.leaving) {
			Set<TopicPartition> wanted = this.queue.paused();
			wanted.addAll(this.pausedByContainer);
			assertThat(paused).as("%s pauses", this.kafka.name).isEqualTo(wanted);
		}
	}

	/** Compares all partitions with the model. */
	void check() {
		Intake intake = this.queue.intake();
		Set<TopicPartition> begunOrHeld = this.queue.paused();
		begunOrHeld.addAll(intake.partitions());
		assertThat(begunOrHeld).isEqualTo(Set.copyOf(this.kafka.owned.keySet()));
		for (Assignment assignment : intake.assignments()) {
			Ownership ownership = Objects.requireNonNull(this.kafka.owned.get(assignment.partition()));
			PartitionLedger<Delivery> ledger = assignment.ledger();
			List<Long> outstanding = new ArrayList<>();
			ledger.forEachOutstanding((delivery) -> outstanding.add(delivery.offset()));
			if (!outstanding.equals(ownership.open(ledger.next()))) {
				assertThat(outstanding).as("%s outstanding", assignment.partition())
					.isEqualTo(ownership.open(ledger.next()));
			}
			Long lowest = ownership.lowestOpen();
			long watermark = ledger.watermark();
			if (lowest != null && watermark > lowest) {
				assertThat(watermark).as("%s watermark", assignment.partition()).isLessThanOrEqualTo(lowest);
			}
			if (assignment.outstanding() != outstanding.size() || ledger.tracked() > ledger.window()) {
				assertThat(assignment.outstanding()).as("%s count", assignment.partition())
					.isEqualTo(outstanding.size());
				assertThat(ledger.tracked()).isLessThanOrEqualTo(ledger.window());
			}
		}
	}

	/** Now the watermark is exact, and a pause has a reason. */
	private void checkAccepted() {
		int outstanding = 0;
		for (Assignment assignment : this.queue.intake().assignments()) {
			PartitionLedger<Delivery> ledger = assignment.ledger();
			outstanding += assignment.outstanding();
			Ownership ownership = Objects.requireNonNull(this.kafka.owned.get(assignment.partition()));
			Long lowest = ownership.lowestOpen();
			if (ledger.head() != null && (lowest == null || ledger.watermark() != lowest)) {
				assertThat(ledger.watermark()).as("%s watermark", assignment.partition()).isEqualTo(lowest);
			}
		}
		if (outstanding == 0) {
			assertThat(this.simulation.outstandingElsewhere(this) ? List.of() : this.queue.intake().paused())
				.as("%s is paused though nothing is outstanding", this.kafka.name)
				.isEmpty();
		}
	}

	/** An assignment that is drained has left the intake, and still runs. */
	@Nullable Ownership ownership(Assignment assignment) {
		Ownership now = this.kafka.owned.get(assignment.partition());
		if (now != null && this.queue.intake().assignments().contains(assignment)) {
			this.ownerships.put(assignment, now);
		}
		return this.ownerships.get(assignment);
	}

	int outstanding() {
		return this.queue.intake().assignments().stream().mapToInt(Assignment::outstanding).sum();
	}

	private final class Signal extends ConsumerSignal {

		@Override
		void raise() {
			SimulatedMember.this.raised = true;
			SimulatedMember.this.signals++;
		}

		/** Others go on meanwhile. */
		@Override
		void await(long nanos) {
			SimulatedMember member = SimulatedMember.this;
			boolean before = member.raised;
			member.raised = false;
			if (!before) {
				member.simulation.pass(Duration.ofNanos(1 + member.simulation.upTo((int) nanos)));
				member.simulation.elsewhere();
			}
			member.waited = !before && !member.raised && member.queue.intake().isAllPaused();
			member.raised = false;
		}

	}

}
