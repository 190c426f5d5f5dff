package io.queuestarter.benchmarks.compare;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

import io.queuestarter.delivery.Attempt;
import io.queuestarter.delivery.Delivery;
import io.queuestarter.delivery.TimeSource;
import io.queuestarter.intake.Intake;
import io.queuestarter.ledger.AckedSet;
import io.queuestarter.outage.Circuit;

/**
 * Scenario J: what a queue holds for a million records in a hundred partitions, beside
 * the records themselves; once with all of them waiting, and once with all but the first
 * of each partition settled. Good is at most 256 bytes for one that waits, and 64 for one
 * that is settled above the watermark.
 */
public final class Footprint {

	private static final int PARTITIONS = 100;

	private static final int WINDOW = 10_000;

	private static final int RECORDS = PARTITIONS * WINDOW;

	private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

	private Footprint() {
	}

	/**
	 * Prints both numbers.
	 * @param args not used
	 */
	public static void main(String[] args) {
		System.setProperty("logging.config", "classpath:logback.xml");
		Footprint footprint = new Footprint();
		System.out.println(Machine.here());
		// The first time loads classes.
		footprint.waiting();
		System.out.printf("waiting record                  %6.1f bytes beside it%n", footprint.waiting());
		System.out.printf("record settled above watermark  %6.1f bytes%n", footprint.settled());
		System.exit(0);
	}

	private double waiting() {
		List<ConsumerRecords<byte[], byte[]>> records = records();
		long before = heap();
		// No worker ever starts.
		Stages stages = new Stages(1, 3 * RECORDS, (worker) -> {
		}, this.timer, (delivery, slot) -> true, () -> {
		});
		Intake intake = intake(stages, records);
		long held = heap() - before;
		if (stages.dispatcher().waiting() != RECORDS || records.size() != intake.partitions().size()) {
			throw new IllegalStateException(stages.dispatcher().waiting() + " records wait");
		}
		return (double) held / RECORDS;
	}

	private double settled() {
		long before = heap();
		Runner runner = new Runner();
		Stages stages = new Stages(PARTITIONS + 1, 3 * RECORDS, Runnable::run, this.timer, runner::run, () -> {
		});
		runner.stages = stages;
		Intake intake = intake(stages, records());
		long held = heap() - before;
		long tracked = intake.assignments().stream().mapToLong((assignment) -> assignment.ledger().tracked()).sum();
		if (tracked != RECORDS || runner.settled != RECORDS - PARTITIONS) {
			throw new IllegalStateException(tracked + " records in the ledgers, " + runner.settled + " settled");
		}
		return (double) held / runner.settled;
	}

	private static Intake intake(Stages stages, List<ConsumerRecords<byte[], byte[]>> records) {
		Intake intake = stages.intake(WINDOW, Long.MAX_VALUE, () -> {
		});
		for (ConsumerRecords<byte[], byte[]> polled : records) {
			polled.partitions().forEach((partition) -> intake.begin(partition, -1, AckedSet.EMPTY, -1));
			intake.accept(polled);
		}
		intake.proceed();
		return intake;
	}

	private static List<ConsumerRecords<byte[], byte[]>> records() {
		List<ConsumerRecords<byte[], byte[]>> all = new ArrayList<>();
		for (int number = 0; number < PARTITIONS; number++) {
			TopicPartition partition = new TopicPartition("footprint", number);
			List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(WINDOW);
			for (int offset = 0; offset < WINDOW; offset++) {
				records.add(new ConsumerRecord<>(partition.topic(), number, offset, 0L, TimestampType.CREATE_TIME, 0,
						100, new byte[0], new byte[100], new RecordHeaders(), Optional.empty()));
			}
			all.add(new ConsumerRecords<>(new HashMap<>(Map.of(partition, records)),
					Map.of(partition, new OffsetAndMetadata(WINDOW))));
		}
		return all;
	}

	private static long heap() {
		for (int i = 0; i < 4; i++) {
			System.gc();
		}
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	/** Settles all records but the first of each partition, which keeps its slot. */
	private static final class Runner {

		private @Nullable Stages stages;

		private int settled;

		boolean run(Delivery delivery, int slot) {
			Stages current = Objects.requireNonNull(this.stages);
			Circuit circuit = current.circuits().of(delivery.record());
			circuit.tryAcquire();
			Attempt attempt = Objects
				.requireNonNull(delivery.start(current.settler(), slot, TimeSource.SYSTEM, Stages.TIMEOUT, circuit));
			if (delivery.offset() == 0) {
				return false;
			}
			current.settler().handled(attempt);
			this.settled++;
			return true;
		}

	}

}
