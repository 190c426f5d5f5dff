package io.queuestarter;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.plain.PlainAuthenticateCallback;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.queuestarter.actuate.QueuesEndpoint;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.container.Queue;
import io.queuestarter.container.QueueListenerContainerFactory;
import io.queuestarter.container.QueueState;
import io.queuestarter.container.Queues;
import io.queuestarter.jobs.DeadLetterJobs;
import io.queuestarter.jobs.JobAction;
import io.queuestarter.jobs.JobRequest;
import io.queuestarter.jobs.JobStatus;
import io.queuestarter.jobs.JobTarget;
import io.queuestarter.jobs.JobView;
import io.queuestarter.observe.DeadLetterWatch;
import io.queuestarter.observe.Doctor;
import io.queuestarter.observe.QueuesHealth;
import io.queuestarter.testkit.Cluster;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;
import io.queuestarter.testkit.Relay;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The broker refuses an application that works: one of its topics may not be read for a
 * while, then its password is wrong for a while. Queues that are refused say why and try
 * again, seldom and by themselves; the others go on.
 */
@Tag("faults")
@ExtendWith(OutputCaptureExtension.class)
class AccessFaultTests {

	private static final String USER = "queue";

	private static final String RETRY = "Authentication/Authorization Exception, retrying in";

	private static final Relay RELAY = new Relay();

	private static Cluster cluster;

	@BeforeAll
	static void start() {
		cluster = Cluster.behind(RELAY, "SASL_PLAINTEXT",
				Map.of("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
						"super.users", "User:ANONYMOUS", "allow.everyone.if.no.acl.found", "true",
						"sasl.enabled.mechanisms", "PLAIN", "listener.name.relayed.plain.sasl.jaas.config",
						"org.apache.kafka.common.security.plain.PlainLoginModule required;",
						"listener.name.relayed.plain.sasl.server.callback.handler.class", Passwords.class.getName()));
	}

	@AfterAll
	static void stop() {
		cluster.close();
		RELAY.close();
	}

	@Test
	void B3_queueThatMayNotReadItsTopicTriesAgainWhileAnotherGoesOn(CapturedOutput output) {
		String open = cluster.newTopic("open", 1);
		String guarded = cluster.newTopic("guarded", 1);
		List<AclBinding> denied = List.of(acl(guarded, AclOperation.ALL, AclPermissionType.ALLOW),
				acl(guarded, AclOperation.READ, AclPermissionType.DENY));
		try (QueueApp app = app(open, guarded)) {
			send(app, open, guarded, 10);
			Queue queue = app.queue("guarded");
			Instant begin = Instant.now();
			cluster.ask((admin) -> admin.createAcls(denied).all());

			awaitProblem(app, "guarded", "TopicAuthorizationException: Not authorized to access topics: [" + guarded);
			cluster.send(open, 1, 10);
			cluster.send(guarded, 1, 10);
			QueueApp.eventually().until(() -> app.bean(Handlers.class).count(open) == 20);
			QueueApp.eventually().until(() -> retries(output) >= 2);
			long limit = 1 + Duration.between(begin, Instant.now()).toSeconds();
			assertThat(retries(output)).as("log lines about it").isLessThanOrEqualTo(limit);
			assertThat(queue.state()).isEqualTo(QueueState.RUNNING);
			assertThat(app.bean(Handlers.class).count(guarded)).isEqualTo(10);
			assertThat(app.queue("open").pollProblem()).isNull();

			cluster.ask((admin) -> admin.deleteAcls(denied.stream().map(AclBinding::toFilter).toList()).all());

			awaitHandled(app, guarded, 20);
			QueueApp.eventually().until(() -> queue.pollProblem() == null && queue.commitProblem() == null);
			assertThat(details(app, "guarded")).doesNotContainKey("pollProblem");
			assertThat(app.bean(Handlers.class).runs.values()).containsOnly(1);
		}
	}

	@Test
	void B3_wrongPasswordIsTriedAgainUntilItIsRight(CapturedOutput output) {
		String open = cluster.newTopic("open-password", 1);
		String guarded = cluster.newTopic("guarded-password", 1);
		try (QueueApp app = app(open, guarded)) {
			send(app, open, guarded, 10);
			Instant begin = Instant.now();

			Passwords.isRight = false;
			RELAY.cut();

			cluster.send(open, 1, 10);
			cluster.send(guarded, 1, 10);
			awaitProblem(app, "open", "SaslAuthenticationException");
			awaitProblem(app, "guarded", "SaslAuthenticationException");
			long limit = 2 * (1 + Duration.between(begin, Instant.now()).toSeconds());
			assertThat(retries(output)).as("log lines about it").isLessThanOrEqualTo(limit);

			Passwords.isRight = true;

			awaitHandled(app, open, 20);
			awaitHandled(app, guarded, 20);
			QueueApp.eventually().until(() -> app.queue("guarded").pollProblem() == null);
			assertThat(app.queue("open").state()).isEqualTo(QueueState.RUNNING);
			assertThat(app.bean(Handlers.class).runs.values()).containsOnly(1);
		}
		finally {
			Passwords.isRight = true;
		}
	}

	/*
	 * Kafka's producer meets the wrong password when it asks for its id, since these are
	 * its first letters.
	 */
	@Test
	void B3_deadLettersAreWrittenOnceThePasswordIsRight() {
		String open = cluster.newTopic("open-letters", 1);
		String guarded = cluster.newTopic("guarded-letters", 1);
		try (QueueApp app = app(open, guarded)) {
			send(app, open, guarded, 1);
			Handlers handlers = app.bean(Handlers.class);
			handlers.refuseAll = true;
			cluster.send(guarded, 1, 5);
			handlers.hold.awaitArrived(5);

			Passwords.isRight = false;
			RELAY.cut();
			handlers.hold.release();

			Queue queue = app.queue("guarded");
			QueueApp.eventually().until(() -> queue.deadLettersWaiting() == 5 && queue.deadLetterProblem() != null);

			Passwords.isRight = true;

			QueueApp.eventually()
				.pollInterval(Duration.ofMillis(200))
				.until(() -> cluster.committed(guarded, guarded) == 6);
			assertThat(cluster.records(guarded + "-dlq")).isEqualTo(5);
			assertThat(queue.deadLetterProblem()).isNull();
		}
		finally {
			Passwords.isRight = true;
		}
	}

	@Test
	void M4_purgeWithoutTheRightToDeleteIsRefusedAndChangesNothing() {
		String open = cluster.newTopic("open-purge", 1);
		String guarded = cluster.newTopic("guarded-purge", 1);
		cluster.newTopic(guarded + "-dlq", 1);
		cluster.send(guarded + "-dlq", 1, 3);
		List<AclBinding> denied = List.of(acl(guarded + "-dlq", AclOperation.ALL, AclPermissionType.ALLOW),
				acl(guarded + "-dlq", AclOperation.DELETE, AclPermissionType.DENY));
		cluster.ask((admin) -> admin.createAcls(denied).all());
		try (QueueApp app = app(open, guarded)) {
			send(app, open, guarded, 1);
			DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
			String id = jobs
				.start(app.queue("guarded"),
						new JobRequest(JobAction.PURGE, LetterFilter.NONE, JobTarget.HANDLER, 0, Long.MAX_VALUE, null,
								null, "ana", "INC-7"))
				.id();

			QueueApp.eventually().until(() -> jobs.find(id).orElseThrow().status().isEnded());
			JobView job = jobs.find(id).orElseThrow();
			assertThat(job.status()).isEqualTo(JobStatus.FAILED);
			assertThat(job.lastError()).contains(guarded + "-dlq-0", "no right to delete records");
			assertThat(job.moved()).isZero();
			assertThat(cluster.records(guarded + "-dlq")).isEqualTo(3);
		}
	}

	private static void send(QueueApp app, String open, String guarded, int count) {
		cluster.send(open, 1, count);
		cluster.send(guarded, 1, count);
		awaitHandled(app, open, count);
		awaitHandled(app, guarded, count);
	}

	private static void awaitHandled(QueueApp app, String topic, int count) {
		QueueApp.eventually().until(() -> app.bean(Handlers.class).count(topic) == count);
		QueueApp.eventually()
			.pollInterval(Duration.ofMillis(200))
			.until(() -> cluster.committed(topic, topic) == count);
	}

	private static void awaitProblem(QueueApp app, String queue, String problem) {
		QueueApp.eventually().untilAsserted(() -> {
			assertThat(details(app, queue).get("pollProblem")).asString().contains(problem);
			QueuesEndpoint.QueueDetail detail = Objects.requireNonNull(
					new QueuesEndpoint(app.bean(Queues.class), app.bean(Doctor.class), app.bean(DeadLetterWatch.class))
						.detail(queue));
			assertThat(detail.pollProblem()).contains(problem);
		});
	}

	private static Map<String, Object> details(QueueApp app, String queue) {
		HealthIndicator indicator = (HealthIndicator) Objects
			.requireNonNull(app.bean(QueuesHealth.class).getContributor(queue));
		Health health = Objects.requireNonNull(indicator.health());
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		return health.getDetails();
	}

	private static long retries(CapturedOutput output) {
		return output.toString().lines().filter((line) -> line.contains(RETRY)).count();
	}

	private static AclBinding acl(String topic, AclOperation operation, AclPermissionType permission) {
		return new AclBinding(new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
				new AccessControlEntry("User:" + USER, "*", operation, permission));
	}

	private static QueueApp app(String open, String guarded) {
		return QueueApp.of(Handlers.class, Pace.class)
			.with("spring.kafka.bootstrap-servers", RELAY.bootstrap())
			.with("spring.kafka.properties.security.protocol", "SASL_PLAINTEXT")
			.with("spring.kafka.properties.sasl.mechanism", "PLAIN")
			.with("spring.kafka.properties.sasl.jaas.config",
					"org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + USER
							+ "\" password=\"any\";")
			.with("open", open)
			.with("guarded", guarded)
			.start();
	}

	static class Handlers {

		final Map<String, Integer> runs = new ConcurrentHashMap<>();

		final Hold hold = new Hold();

		volatile boolean refuseAll;

		@QueueListener(id = "open", topics = "${open}", groupId = "${open}")
		void open(ConsumerRecord<String, String> record) {
			note(record);
		}

		@QueueListener(id = "guarded", topics = "${guarded}", groupId = "${guarded}", maxAttempts = "1")
		void guarded(ConsumerRecord<String, String> record) throws InterruptedException {
			if (this.refuseAll) {
				this.hold.await();
				throw new IllegalArgumentException("Refused");
			}
			note(record);
		}

		private void note(ConsumerRecord<String, String> record) {
			this.runs.merge(record.topic() + "@" + record.offset(), 1, Integer::sum);
		}

		long count(String topic) {
			return this.runs.keySet().stream().filter((record) -> record.startsWith(topic + "@")).count();
		}

	}

	/**
	 * Tries again every second, since Kafka's consumer keeps some errors and throws them
	 * one a poll.
	 */
	static class Pace implements BeanPostProcessor {

		@Override
		public Object postProcessBeforeInitialization(Object bean, String name) {
			if (bean instanceof QueueListenerContainerFactory factory) {
				factory.getContainerProperties().setAuthExceptionRetryInterval(Duration.ofSeconds(1));
			}
			return bean;
		}

	}

	/** The broker's view of passwords: all are right, or none. */
	public static final class Passwords implements AuthenticateCallbackHandler {

		static volatile boolean isRight = true;

		@Override
		public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> jaas) {
		}

		@Override
		public void handle(Callback[] callbacks) {
			for (Callback callback : callbacks) {
				if (callback instanceof PlainAuthenticateCallback plain) {
					plain.authenticated(isRight);
				}
			}
		}

		@Override
		public void close() {
		}

	}

}
