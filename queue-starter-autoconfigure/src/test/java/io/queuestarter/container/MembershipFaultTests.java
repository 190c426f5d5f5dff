package io.queuestarter.container;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Effort;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.Load;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Seeds;
import io.queuestarter.testkit.Stalls;
import io.queuestarter.testkit.Trial;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Members of a group come and go faster than is reasonable, with each of Kafka's
 * rebalance protocols, while handlers are quick, slow, or do not end at all. Nothing is
 * lost, nobody waits longer than the drain for anybody else, and all counters are back at
 * zero in the end.
 */
@Tag("faults")
@Tag("threads")
class MembershipFaultTests {

	private static final Logger LOGGER = LoggerFactory.getLogger(MembershipFaultTests.class);

	private static final String DRAIN = "kafka-queue.listeners.trial.shutdown.drain-timeout=";

	private static final int PARTITIONS = 6;

	private static final int MAX_IN_FLIGHT = 8;

	private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	@ParameterizedTest
	@EnumSource
	void X21_X27_nothingIsLostHeldOrLockedWhileMembersComeAndGo(Protocol protocol) {
		SplittableRandom random = Seeds.random("membership");
		Stalls stalls = new Stalls();
		CountDownLatch never = new CountDownLatch(1);
		try (Trial trial = Trial.on("members", PARTITIONS)) {
			trial.work((record) -> {
				stalls.begun();
				// Some take longer than the drain and are cut off.
				int millis = (Integer.parseInt(record.value()) % 100 == 0) ? 700 : 2;
				assertThat(never.await(millis, TimeUnit.MILLISECONDS)).isFalse();
				return true;
			});
			// A classic member that leaves before it has joined is waited for so long.
			String[] settings = protocol.settings(DRAIN + "300ms", protocol.sessionTimeout(Duration.ofSeconds(6)),
					"kafka-queue.listeners.trial.dispatch.max-in-flight=" + MAX_IN_FLIGHT);
			List<QueueApp> apps = List.of(trial.start(settings), trial.start(settings), trial.start(settings));
			int changes = Effort.of(10, 100);
			int sent;
			try (Load load = Load.of(Broker.bootstrap(), trial.topic(), PARTITIONS, 400)) {
				for (int change = 0; change < changes; change++) {
					MessageListenerContainer member = Trial.container(apps.get(1 + random.nextInt(2)));
					stalls.around(protocol + (member.isRunning() ? " leave" : " join"), () -> {
						if (member.isRunning()) {
							member.stop();
						}
						else {
							member.start();
						}
					}, () -> pause(Duration.ofMillis(random.nextInt(Effort.of(300, 2000)))), () -> true);
					assertThat(apps)
						.allSatisfy((app) -> assertThat(Trial.queue(app).state()).isNotEqualTo(QueueState.FAILED));
				}
				sent = load.stop();
			}

			trial.awaitAll(sent);
			apps.forEach(Trial::awaitQuiet);
			int again = trial.journal().repetitions();
			int mayRunAgain = trial.auditor().repeatable(MAX_IN_FLIGHT);
			stalls.report("membership");
			LOGGER.info("{}: {} changes, {} revocations, {} records sent, 0 lost, {} run again of {} that might",
					protocol, changes, trial.auditor().revocations(), sent, again, mayRunAgain);
			assertThat(trial.auditor().repeated()).as("run again though committed").isEmpty();
			assertThat(again).as("run again").isLessThanOrEqualTo(mayRunAgain);
			assertThat(THREADS.findDeadlockedThreads()).as("deadlocked threads").isNull();
		}
	}

	/** "Thirty minutes" is until the end of the test. */
	@ParameterizedTest
	@EnumSource
	void X34_aRecordOfThirtyMinutesHoldsUpNobodyLongerThanTheDrain(Protocol protocol) {
		Hold thirtyMinutes = new Hold();
		try (Trial trial = Trial.on("long", PARTITIONS)) {
			AtomicBoolean begun = new AtomicBoolean();
			trial.work((record) -> {
				if (begun.compareAndSet(false, true)) {
					thirtyMinutes.awaitStubbornly();
					return false;
				}
				return true;
			});
			String[] settings = protocol.settings(DRAIN + "1s");
			QueueApp working = trial.start(settings);
			Trial.awaitPartitions(working, PARTITIONS);
			trial.send(PARTITIONS, PARTITIONS);
			thirtyMinutes.awaitArrived(1);
			trial.awaitHandled(PARTITIONS - 1);
			List<QueueApp> others = List.of(trial.start(settings), trial.start(settings));
			others.forEach((app) -> Trial.awaitPartitions(app, PARTITIONS / 3));

			Instant begin = Instant.now();
			Trial.container(working).stop();
			Duration stopped = Duration.between(begin, Instant.now());

			others.forEach((app) -> Trial.awaitPartitions(app, PARTITIONS / 2));
			trial.send(PARTITIONS, 60);
			trial.awaitAll(PARTITIONS + 60);
			assertThat(stopped).isLessThan(Duration.ofSeconds(20));
			Trial.container(working).start();
			Trial.awaitPartitions(working, PARTITIONS / 3);
			trial.send(PARTITIONS, 60);
			trial.awaitAll(PARTITIONS + 120);
			assertThat(thirtyMinutes.arrived()).isOne();
			thirtyMinutes.release();
			QueueApp.eventually().until(() -> Trial.queue(working).outcomes().lateCount() == 1);
			Trial.awaitQuiet(working);
		}
		finally {
			thirtyMinutes.release();
		}
	}

	@ParameterizedTest
	@EnumSource
	void X29_aMemberThatDrainsIdlesAndHoldsUpAnotherUntilItsLimit(Protocol protocol) {
		Hold hold = new Hold();
		try (Trial trial = Trial.on("draining", PARTITIONS)) {
			AtomicLong consumer = new AtomicLong();
			AtomicInteger polls = new AtomicInteger();
			AtomicBoolean watched = new AtomicBoolean(true);
			trial.tap(() -> {
				boolean first = watched.getAndSet(false);
				return (call) -> {
					if (first && call.name().equals("poll")) {
						consumer.set(Thread.currentThread().getId());
						polls.incrementAndGet();
					}
					return call.proceed();
				};
			});
			trial.work((record) -> {
				if (trial.journal().starts(trial.partition(record.partition()), record.offset()) == 1) {
					hold.awaitStubbornly();
				}
				return true;
			});
			String[] settings = protocol.settings(DRAIN + "4s");
			QueueApp leaving = trial.start(settings);
			Trial.awaitPartitions(leaving, PARTITIONS);
			trial.send(PARTITIONS, PARTITIONS);
			hold.awaitArrived(PARTITIONS);

			CompletableFuture<Void> stopped = CompletableFuture.runAsync(() -> Trial.container(leaving).stop(),
					(command) -> new Thread(command).start());
			QueueApp.eventually().until(() -> Trial.queue(leaving).state() == QueueState.DRAINING);
			int pollsBefore = polls.get();
			long cpuBefore = THREADS.getThreadCpuTime(consumer.get());
			QueueApp joining = trial.start(settings);
			Awaitility.await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
			long cpuNanos = THREADS.getThreadCpuTime(consumer.get()) - cpuBefore;
			assertThat(stopped).as("stopped while its records run").isNotDone();

			assertThat(polls.get() - pollsBefore).as("polls while draining").isLessThanOrEqualTo(1);
			assertThat(cpuNanos).as("CPU while draining").isLessThan(TimeUnit.MILLISECONDS.toNanos(500));
			Trial.awaitPartitions(joining, PARTITIONS);
			trial.awaitHandled(PARTITIONS);
			stopped.orTimeout(30, TimeUnit.SECONDS).join();
			assertThat(Trial.queue(leaving).outcomes().abandonedCount()).isEqualTo(PARTITIONS);
			hold.release();
			trial.awaitCommitted(PARTITIONS);
		}
		finally {
			hold.release();
		}
	}

	@ParameterizedTest
	@EnumSource
	void X36_aQueueThatNeverPolledARecordClosesInARebalanceStorm(Protocol protocol) throws Exception {
		try (Trial trial = Trial.on("storm", PARTITIONS)) {
			AtomicBoolean calm = new AtomicBoolean();
			List<Thread> storm = new ArrayList<>();
			for (int member = 0; member < 2; member++) {
				Thread thread = new Thread(() -> comeAndGo(trial, protocol, calm), "storm-" + member);
				storm.add(thread);
				thread.start();
			}
			try {
				for (int cycle = 0; cycle < Effort.of(2, 15); cycle++) {
					QueueApp app = trial.start(protocol.settings(DRAIN + "1s"));
					Queue queue = Trial.queue(app);
					QueueApp.eventually().until(() -> !queue.partitions().isEmpty());
					trial.send(1, 10);

					Instant begin = Instant.now();
					app.close();

					assertThat(Duration.between(begin, Instant.now())).isLessThan(Duration.ofSeconds(20));
					assertThat(queue.state()).isEqualTo(QueueState.STOPPED);
				}
			}
			finally {
				calm.set(true);
				for (Thread thread : storm) {
					thread.join(TimeUnit.SECONDS.toMillis(30));
				}
			}
			QueueApp last = trial.start(protocol.settings());
			trial.awaitAll(10 * Effort.of(2, 15));
			Trial.awaitQuiet(last);
		}
	}

	/** A member that takes partitions, and gives them back unread. */
	private static void comeAndGo(Trial trial, Protocol protocol, AtomicBoolean calm) {
		Map<String, Object> common = Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap(),
				ConsumerConfig.GROUP_ID_CONFIG, trial.topic(), ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
		Map<String, Object> own = switch (protocol) {
			case EAGER -> Map.of(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
					"org.apache.kafka.clients.consumer.RangeAssignor");
			case COOPERATIVE ->
				Map.of(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
			case CONSUMER -> Map.of(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
		};
		Map<String, Object> config = new HashMap<>(common);
		config.putAll(own);
		while (!calm.get()) {
			try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(),
					new ByteArrayDeserializer())) {
				consumer.subscribe(List.of(trial.topic()));
				for (int i = 0; i < 20 && consumer.assignment().isEmpty() && !calm.get(); i++) {
					consumer.poll(Duration.ofMillis(50));
				}
			}
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
		}
	}

	private static void pause(Duration duration) {
		Awaitility.await().pollDelay(duration).atMost(duration.plusSeconds(10)).until(() -> true);
	}

}
