package io.queuestarter.container;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.QueueListener;
import io.queuestarter.observe.Doctor;
import io.queuestarter.observe.QueuesHealth;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Deliveries;
import io.queuestarter.testkit.ProcessTrial;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Queues that are static members of their groups: each consumer of a process has an id of
 * its own, and if two processes have the same one, one of them works and the other says
 * so.
 */
@Tag("faults")
@ExtendWith(OutputCaptureExtension.class)
class StaticMembershipTests {

	private static final int PARTITIONS = 2;

	private static final String CONSUMER = "spring.kafka.consumer.properties.";

	private static final String INSTANCE = CONSUMER + "group.instance.id=pod-1";

	@ParameterizedTest
	@ValueSource(strings = { "classic", "consumer" })
	void R4_consumersOfAProcessHaveIdsOfTheirOwnWhichStayTheSame(String protocol) {
		String group = Broker.newTopic("members", 4);
		String second = Broker.newTopic("members", 2);
		for (int start = 0; start < 2; start++) {
			try (QueueApp app = QueueApp.of(Members.class)
				.with("first", group)
				.with("second", second)
				.with(CONSUMER + "group.instance.id", "pod-1")
				.with(CONSUMER + "group.protocol", protocol)
				.start()) {
				QueueApp.eventually()
					.untilAsserted(() -> assertThat(members(group))
						.isEqualTo(Map.of("pod-1-first-0", 2, "pod-1-first-1", 2, "own-a_2fb-0", 2)));
			}
		}
	}

	@Test
	void R4_aFencedQueueStopsOnceAndLeavesTheOthersAlone(@TempDir Path folder, CapturedOutput output) {
		String topic = Broker.newTopic("fenced", PARTITIONS);
		try (ProcessTrial trial = new ProcessTrial(Broker.bootstrap(), topic, PARTITIONS, folder)) {
			trial.load(200);
			QueueApp app = trial.startWithin(Other.class, INSTANCE, "other=" + Broker.newTopic("other", 1));
			trial.awaitOwned(0, PARTITIONS);
			trial.awaitEnd();
			trial.fault("second process with the same id");

			ProcessTrial.WorkerProcess second = trial.start(INSTANCE);

			ProcessTrial.eventually().until(() -> app.queue("worker").state() == QueueState.FAILED);
			trial.awaitOwned(second, PARTITIONS);
			second.awaitEnd();
			assertDown(app, output);
			assertOtherWorks(app);
			int takeovers = trial.deliveries().takeovers().size();
			trial.awaitCommit();
			Deliveries deliveries = trial.awaitAll();
			assertThat(deliveries.violations()).isEmpty();
			assertThat(deliveries.takeovers()).as("assignments").hasSize(takeovers);
			assertThat(deliveries.takeovers())
				.allSatisfy((takeover) -> assertThat(takeover.beyond()).as(takeover.toString()).isEmpty());
			assertThat(app.queue("worker").state()).isEqualTo(QueueState.FAILED);
		}
	}

	@Test
	void R4_aNewcomerIsKeptOutUntilTheIdIsFree(@TempDir Path folder, CapturedOutput output) {
		String topic = Broker.newTopic("refused", PARTITIONS);
		ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, topic);
		AlterConfigOp shorten = new AlterConfigOp(new ConfigEntry("consumer.session.timeout.ms", "5000"),
				AlterConfigOp.OpType.SET);
		Broker.await(Broker.admin().incrementalAlterConfigs(Map.of(group, List.of(shorten))).all());
		String protocol = CONSUMER + "group.protocol=consumer";
		try (ProcessTrial trial = new ProcessTrial(Broker.bootstrap(), topic, PARTITIONS, folder)) {
			trial.load(200);
			ProcessTrial.WorkerProcess first = trial.start(INSTANCE, protocol);
			trial.awaitOwned(first, PARTITIONS);
			first.awaitEnd();

			QueueApp app = trial.startWithin(Other.class, INSTANCE, protocol, "other=" + Broker.newTopic("other", 1));
			ProcessTrial.eventually().until(() -> app.queue("worker").state() == QueueState.FAILED);
			assertDown(app, output);
			assertOtherWorks(app);
			container(app).stop();
			assertThat(app.queue("worker").state()).isEqualTo(QueueState.STOPPED);
			container(app).start();
			ProcessTrial.eventually().until(() -> app.queue("worker").state() == QueueState.FAILED);
			first.awaitEnd();
			trial.fault("kill of the process that has the id");
			first.jvm().kill();

			trial.awaitOwned(1, PARTITIONS);
			trial.awaitEnd();
			Deliveries deliveries = trial.awaitAll();
			assertThat(app.queue("worker").state()).isEqualTo(QueueState.RUNNING);
			assertThat(app.queue("worker").failure()).isNull();
			assertThat(errors(output)).as("one for each start").hasSize(2);
			assertThat(deliveries.violations()).isEmpty();
			assertThat(deliveries.takeovers())
				.allSatisfy((takeover) -> assertThat(takeover.beyond()).as(takeover.toString()).isEmpty());
		}
	}

	private static MessageListenerContainer container(QueueApp app) {
		return Objects.requireNonNull(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer("worker"));
	}

	private static void assertDown(QueueApp app, CapturedOutput output) {
		Health health = health(app, "worker");
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails().get("failure")).asString().contains("'pod-1-worker-0'");
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(errors(output)).singleElement().asString().contains("'worker'"));
	}

	private static List<String> errors(CapturedOutput output) {
		return output.getAll()
			.lines()
			.filter((line) -> line.contains("ERROR") && line.contains("'pod-1-worker-0'"))
			.toList();
	}

	private static void assertOtherWorks(QueueApp app) {
		AtomicInteger handled = app.bean(Other.class).handled;
		int before = handled.get();
		Broker.send(Objects.requireNonNull(app.context().getEnvironment().getProperty("other")), null, "x");
		QueueApp.eventually().until(() -> handled.get() > before);
		assertThat(health(app, "other").getStatus()).isEqualTo(Status.UP);
	}

	private static Health health(QueueApp app, String queue) {
		HealthIndicator indicator = (HealthIndicator) Objects
			.requireNonNull(new QueuesHealth(app.bean(Queues.class), app.bean(Doctor.class)).getContributor(queue));
		return Objects.requireNonNull(indicator.health());
	}

	/** Number of partitions by static id. */
	private static Map<String, Integer> members(String group) {
		return Broker.await(Broker.admin().describeConsumerGroups(List.of(group)).all())
			.values()
			.stream()
			.flatMap((description) -> description.members().stream())
			.collect(Collectors.toMap((member) -> member.groupInstanceId().orElse("none"),
					(member) -> member.assignment().topicPartitions().size()));
	}

	static class Members {

		@QueueListener(id = "first", topics = "${first}", groupId = "${first}", concurrency = "2")
		void first(String value) {
		}

		@QueueListener(id = "a/b", topics = "${second}", groupId = "${first}", properties = "group.instance.id=own")
		void second(String value) {
		}

	}

	static class Other {

		private final AtomicInteger handled = new AtomicInteger();

		@QueueListener(id = "other", topics = "${other}", groupId = "${other}")
		void handle(String value) {
			this.handled.incrementAndGet();
		}

	}

}
