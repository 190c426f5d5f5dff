package io.queuestarter.container;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.queuestarter.testkit.Cluster;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.LetterBox;
import io.queuestarter.testkit.Load;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Relay;
import io.queuestarter.testkit.Seeds;
import io.queuestarter.testkit.Stalls;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The network between a queue and its broker fails in every way, round after round, while
 * good and bad records arrive. None is lost, none runs again of which the broker had
 * acknowledged the end, no bad one is committed without its dead letter, and the queue
 * goes on without help.
 */
@Tag("faults")
class NetworkFaultTests {

	private static final Logger LOGGER = LoggerFactory.getLogger(NetworkFaultTests.class);

	private static final int PARTITIONS = 4;

	private static final int MAX_IN_FLIGHT = 8;

	private static final Relay RELAY = new Relay();

	private static Cluster cluster;

	@BeforeAll
	static void start() {
		cluster = Cluster.behind(RELAY, "PLAINTEXT", Map.of());
	}

	@AfterAll
	static void stop() {
		cluster.close();
		RELAY.close();
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EAGER")
	void nothingIsLostWhenTheNetworkIsCutStalledAndSlow(Protocol protocol) {
		SplittableRandom random = Seeds.random("network");
		Stalls stalls = new Stalls();
		String topic = cluster.newTopic("network", PARTITIONS);
		Trial trial = Trial.in(topic);
		try (LetterBox letters = new LetterBox(cluster.bootstrap(), topic, trial.journal()); trial) {
			trial.journal().lookInto(letters::empty);
			trial.work((record) -> {
				stalls.begun();
				if (record.value().equals(Load.POISON)) {
					throw new IllegalArgumentException("Poison");
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
				return true;
			});
			QueueApp app = trial.start(settings(protocol));
			Trial.awaitPartitions(app, PARTITIONS);
			List<Fault> faults = faults(random);
			int sent;
			try (Load load = Load.poisoned(cluster.bootstrap(), topic, PARTITIONS, 500)) {
				for (Fault fault : faults) {
					int revocations = trial.auditor().revocations();
					AtomicLong end = new AtomicLong();
					stalls.around(protocol + " " + fault, () -> fault.happen(random), () -> {
						RELAY.heal();
						end.set(cluster.records(topic));
					}, () -> trial.auditor().acknowledged() >= end.get());
					if (fault == Fault.SILENCE) {
						assertThat(trial.auditor().revocations()).as("thrown out").isGreaterThan(revocations);
					}
					assertThat(Trial.queue(app).state()).isEqualTo(QueueState.RUNNING);
				}
				sent = load.stop();
			}

			assertThat(cluster.records(topic)).isEqualTo(sent);
			QueueApp.eventually().until(() -> trial.auditor().acknowledged() == sent);
			assertThat(cluster.committed(topic, topic)).as("committed").isEqualTo(sent);
			Trial.awaitQuiet(app);
			letters.empty();
			int again = trial.journal().repetitions();
			int mayRunAgain = trial.auditor().repeatable(MAX_IN_FLIGHT);
			stalls.report("network");
			LOGGER.info(
					"{}: {} faults, {} times thrown out, {} records sent, 0 lost, {} run again of {} that might, "
							+ "{} dead letters, {} of them again, {} writes failed",
					protocol, faults.size(), trial.auditor().revocations(), sent, again, mayRunAgain, letters.records(),
					letters.duplicates(), Trial.queue(app).deadLetterFailures());
			assertThat(trial.journal().records() + letters.records()).as("settled").isEqualTo(sent);
			assertThat(trial.auditor().repeated()).as("run again though committed").isEmpty();
			assertThat(again).as("run again").isLessThanOrEqualTo(mayRunAgain);
			assertThat(letters.duplicates()).as("dead letters again")
				.isLessThanOrEqualTo((int) Trial.queue(app).deadLetterFailures() + again);
		}
	}

	private static String[] settings(Protocol protocol) {
		return protocol.settings("spring.kafka.bootstrap-servers=" + RELAY.bootstrap(),
				protocol.sessionTimeout(Duration.ofSeconds(2)),
				"spring.kafka.consumer.properties.request.timeout.ms=3000",
				"kafka-queue.listeners.trial.retry.local.max-attempts=1",
				"kafka-queue.listeners.trial.dispatch.max-in-flight=" + MAX_IN_FLIGHT);
	}

	/** Each kind once, in any order, and more of them in the long form. */
	private static List<Fault> faults(SplittableRandom random) {
		List<Fault> faults = new ArrayList<>();
		for (int round = 0; round < Effort.of(1, 6); round++) {
			List<Fault> kinds = new ArrayList<>(List.of(Fault.values()));
			while (!kinds.isEmpty()) {
				faults.add(kinds.remove(random.nextInt(kinds.size())));
			}
		}
		return faults;
	}

	/**
	 * What happens to the network.
	 */
	private enum Fault {

		CUT {

			@Override
			void happen(SplittableRandom random) {
				for (int i = 0; i < 3; i++) {
					RELAY.cut();
					pause(Duration.ofMillis(random.nextInt(300)));
				}
			}

		},

		OUTAGE {

			@Override
			void happen(SplittableRandom random) {
				RELAY.refuse();
				pause(Duration.ofMillis(500 + random.nextInt(500)));
			}

		},

		STALL {

			@Override
			void happen(SplittableRandom random) {
				RELAY.stall();
				pause(Duration.ofMillis(500 + random.nextInt(500)));
			}

		},

		/** Longer than the group waits for a member. */
		SILENCE {

			@Override
			void happen(SplittableRandom random) {
				RELAY.stall();
				pause(Duration.ofMillis(3000 + random.nextInt(1000)));
			}

		},

		SLOWNESS {

			@Override
			void happen(SplittableRandom random) {
				RELAY.slow(Duration.ofMillis(20 + random.nextInt(80)));
				pause(Duration.ofSeconds(1));
			}

		},

		FORGOTTEN {

			@Override
			void happen(SplittableRandom random) {
				RELAY.forget();
			}

		};

		abstract void happen(SplittableRandom random);

		static void pause(Duration duration) {
			org.awaitility.Awaitility.await().pollDelay(duration).atMost(duration.plusSeconds(10)).until(() -> true);
		}

	}

}
