package io.queuestarter.jobs;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.QueueException;
import io.queuestarter.QueueListener;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.browse.Resolved;
import io.queuestarter.container.QueueRuntime;
import io.queuestarter.deadletter.DeadLetterHeaders;
import io.queuestarter.ledger.AckedSetCodec;
import io.queuestarter.ledger.OffsetRanges;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.Hold;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Jobs that something gets in the way of. The handler of a queue fails for values that
 * begin with "bad", holds those that begin with "held", and the first that begins with
 * "once".
 */
class MergeFaultTests {

	@Test
	void purgeOfAnOlderPlanForgetsNothingThatWasResolvedSince() {
		String topic = topic("fault-plan", 1);
		letters(topic, 6, "order-");

		try (QueueApp app = app(topic).start()) {
			merge(app, LetterFilter.parse(Map.of("offsets", "0@3-5")));
			JobRequest request = new JobRequest(JobAction.PURGE, LetterFilter.NONE, JobTarget.HANDLER, 0,
					Long.MAX_VALUE, null, new PlanEnds(Map.of(new TopicPartition(topic + "-dlq", 0), 3L), Map.of()),
					"ana", "INC-7");
			await(app, app.bean(DeadLetterJobs.class).start(app.queue("fault"), request).id());

			assertThat(unresolved(topic, 1)).isZero();
			assertThat(merge(app, LetterFilter.NONE).moved()).isZero();
			assertThat(app.bean(Handler.class).handled).containsExactlyInAnyOrder("order-3", "order-4", "order-5");
		}
	}

	@Test
	void jobGoesOnWhileOthersJoinItsGroupAndLeave() {
		String topic = topic("fault-join", 2);
		letters(topic, 400, "order-");

		try (QueueApp app = app(topic).start()) {
			JobView job = start(app.bean(DeadLetterJobs.class), app, JobTarget.HANDLER, 40);
			awaitRunning(app.bean(DeadLetterJobs.class), job.id());
			for (int number = 0; number < 3; number++) {
				joinAndLeave(app, topic, "other-" + number);
			}
			JobView ended = await(app, job.id());

			assertThat(ended.lastError()).isNull();
			assertThat(ended.status()).isEqualTo(JobStatus.COMPLETED);
			assertThat(ended.moved()).isEqualTo(400);
			assertThat(app.bean(Handler.class).handled).doesNotHaveDuplicates().hasSize(400);
			assertThat(unresolved(topic, 2)).isZero();
		}
	}

	/**
	 * The handler has the first letter while its process stands still and another job
	 * resolves all; then the job drains, and is in the group again.
	 */
	@Test
	void jobThatLostItsLockOverwritesNothingThatAnotherOneResolved() {
		String topic = topic("fault-lost", 1);
		letters(topic, 1, "once-");
		letters(topic, 40, "order-");

		try (QueueApp app = app(topic).start()) {
			Stall stall = new Stall(app.bean(QueueRuntime.class).jobClients());
			DeadLetterJobs stalled = new DeadLetterJobs(stall, "stalled", 3, List.of());
			stalled.start();
			JobView first = start(stalled, app, JobTarget.HANDLER, 5);
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() >= 2);
			stall.begin();
			Broker.await(Broker.admin()
				.removeMembersFromConsumerGroup("fault.dlq", new RemoveMembersFromConsumerGroupOptions())
				.all());
			JobView second = merge(app, LetterFilter.NONE);
			stall.end();
			QueueApp.eventually().until(() -> isOver(stalled, first.id()) || isOwner(first.id()));
			handler.hold.release();
			QueueApp.eventually().until(() -> isOver(stalled, first.id()));

			assertThat(second.status()).isEqualTo(JobStatus.COMPLETED);
			assertThat(stalled.find(first.id()).orElseThrow().status()).isEqualTo(JobStatus.FAILED);
			assertThat(handler.handled.size()).as("handled").isBetween(41, 44);
			assertThat(unresolved(topic, 1)).isZero();
			stalled.stop();
		}
	}

	@Test
	void newTopicOfTheSameNameHidesNoLettersBehindWhatWasResolvedOfTheOldOne() {
		String topic = topic("fault-anew", 1);
		letters(topic, 20, "order-");

		try (QueueApp app = app(topic).start()) {
			DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
			JobView job = start(jobs, app, JobTarget.HANDLER, 10);
			Handler handler = app.bean(Handler.class);
			QueueApp.eventually().until(() -> handler.handled.size() >= 8);
			Broker.deleteTopic(topic + "-dlq");
			Broker.createTopic(topic + "-dlq", 1, Map.of());
			letters(topic, 3, "new-");
			jobs.cancel(job.id(), "ana");
			await(app, job.id());

			merge(app, LetterFilter.NONE);
			assertThat(handler.handled).contains("new-0", "new-1", "new-2");
			assertThat(unresolved(topic, 1)).isZero();
		}
	}

	@Test
	void lettersTooScatteredToBeRememberedAreNotMovedAgainAndAgain() {
		String topic = topic("fault-full", 1);
		int count = 60_000;
		try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
			Random random = new Random(7);
			for (int number = 0; number < count; number++) {
				producer.send(letter(topic, 0, random.nextBoolean() ? "take" : "leave", "order-" + number));
			}
		}

		try (QueueApp app = app(topic).start()) {
			LetterFilter filter = LetterFilter.parse(Map.of("key", "take"));
			List<Long> moved = new ArrayList<>();
			for (int run = 0; run < 3; run++) {
				moved.add(merge(app, filter).moved());
			}
			Handler handler = app.bean(Handler.class);
			assertThat(handler.handled.size()).as("handled, moved in runs: " + moved)
				.isEqualTo(moved.get(0).intValue())
				.isGreaterThan(10_000);
			assertThat(handler.handled).doesNotHaveDuplicates();
		}
	}

	@Test
	void lettersThatACancelledJobGivesUpDidNotFailAndStay() {
		String topic = topic("fault-cancel", 1);
		letters(topic, 60, "held-");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.fault.dispatch.max-in-flight", 4).start()) {
			Handler handler = app.bean(Handler.class);
			JobView job = start(app.bean(DeadLetterJobs.class), app, JobTarget.HANDLER, 0);
			handler.hold.awaitArrived(4);
			app.bean(DeadLetterJobs.class).cancel(job.id(), "ana");
			JobView ended = await(app, job.id());

			assertThat(ended.status()).isEqualTo(JobStatus.CANCELLED);
			assertThat(ended.moved()).isZero();
			assertThat(ended.failed()).as("failed: " + ended.lastError()).isZero();
			assertThat(unresolved(topic, 1)).isEqualTo(60);
			handler.hold.release();
		}
	}

	@Test
	void topicThatIsCreatedAnewBetweenJobsHidesNoLetters() {
		String topic = topic("fault-between", 1);
		letters(topic, 5, "order-");

		try (QueueApp app = app(topic).start()) {
			merge(app, LetterFilter.NONE);
			Broker.deleteTopic(topic + "-dlq");
			Broker.createTopic(topic + "-dlq", 1, Map.of());
			letters(topic, 3, "new-");

			assertThat(merge(app, LetterFilter.NONE).moved()).isEqualTo(3);
			assertThat(unresolved(topic, 1)).isZero();
		}
	}

	@Test
	void mergedLetterThatDoesNotFitAnyMoreKeepsItsValueAndIsNotResolved() {
		String topic = Broker.newTopic("fault-large", 1);
		Broker.createTopic(topic + "-dlq", 1, Map.of("max.message.bytes", "2000"));
		letters(topic, 1, "bad-" + "x".repeat(1_800));

		try (QueueApp app = app(topic).with("kafka-queue.listeners.fault.dlq.on-too-large", "stub").start()) {
			JobView job = start(app.bean(DeadLetterJobs.class), app, JobTarget.HANDLER, 0);
			QueueApp.eventually().until(() -> app.queue("fault").deadLetterProblem() != null);
			app.bean(DeadLetterJobs.class).cancel(job.id(), "ana");
			JobView ended = await(app, job.id());

			assertThat(ended.moved()).isZero();
			assertThat(Broker.records(topic + "-dlq")).hasSize(1);
			assertThat(unresolved(topic, 1)).isEqualTo(1);
		}
	}

	/** The oldest ones, so that each run meets them first. */
	@Test
	void lettersThatTheTargetDoesNotTakeAreListedAndHoldUpNoOthers() {
		String topic = topic("fault-unfit", 1);
		String target = Broker.newTopic("fault-narrow", 1, Map.of("max.message.bytes", "2000"));
		letters(topic, 40, "large-" + "x".repeat(3_000));
		letters(topic, 5, "small-");

		try (QueueApp app = app(topic).start()) {
			JobView job = await(app, start(app.bean(DeadLetterJobs.class), app, JobTarget.topic(target), 0).id());

			assertThat(job.status()).as(job.lastError()).isEqualTo(JobStatus.COMPLETED);
			assertThat(job.moved()).isEqualTo(5);
			assertThat(job.failed()).isEqualTo(40);
			assertThat(job.skippedLetters()).hasSize(40)
				.contains(new JobView.Skipped(topic + "-dlq-0@0", "RecordTooLargeException"));
			assertThat(Broker.records(target)).hasSize(5);
			assertThat(unresolved(topic, 1)).isEqualTo(40);
		}
	}

	@Test
	void whatThereIsRoomForCanBeCommittedWhicheverOfItIsResolved() {
		for (int seed = 0; seed < 60; seed++) {
			Random random = new Random(seed);
			ResolvedOffsets offsets = new ResolvedOffsets(Resolved.NOTHING, 0);
			List<Long> pending = new ArrayList<>();
			long offset = 1;
			int spread = 1 << random.nextInt(16);
			while (offsets.hasRoom(offset) && offset < 10_000_000) {
				offsets.begin();
				pending.add(offset);
				offset += 1 + random.nextInt(spread);
				if (random.nextInt(8) == 0) {
					offsets.addHole(offset, offset++);
				}
				if (pending.size() > random.nextInt(500)) {
					Collections.shuffle(pending, random);
					offsets.end();
					long ended = pending.remove(0);
					if (random.nextInt(50) != 0) {
						offsets.add(ended);
					}
				}
			}
			pending.forEach((ended) -> offsets.add(ended));
			AckedSetCodec codec = new AckedSetCodec();

			assertThatNoException().as("seed " + seed).isThrownBy(() -> offsets.changes(codec));
		}
	}

	@Test
	void commitsThatFailForAMomentAreRepeated() {
		TopicPartition partition = new TopicPartition("orders-dlq", 0);
		FailingCommits consumer = new FailingCommits();
		consumer.updateEndOffsets(Map.of(partition, 2L));
		ResolvedLog log = new ResolvedLog(consumer, Map.of(partition, 0L), () -> {
		});
		for (int number = 0; number < 15; number++) {
			consumer.errors.add(new RetriableCommitFailedException("moves"));
			consumer.errors.add(new RebalanceInProgressException());
		}
		log.resolved(partition, 0);

		for (int commit = 0; commit < 30; commit++) {
			log.commit();
		}
		assertThat(consumer.errors).isEmpty();
		assertThat(log.unsaved()).isEqualTo(1);
		log.commit();
		assertThat(log.unsaved()).isZero();

		log.resolved(partition, 1);
		consumer.errors.add(new RebalanceInProgressException());
		log.save();
		assertThat(Resolved.of(consumer.offsets.get(partition), 2)).isEqualTo(new Resolved(2, OffsetRanges.EMPTY));
	}

	@Test
	void nothingIsCommittedWhileTheBrokerDoesNotSayWhetherItMay() {
		TopicPartition partition = new TopicPartition("orders-dlq", 0);
		FailingCommits consumer = new FailingCommits();
		consumer.updateEndOffsets(Map.of(partition, 2L));
		Queue<RuntimeException> answers = new ConcurrentLinkedQueue<>();
		ResolvedLog log = new ResolvedLog(consumer, Map.of(partition, 0L), () -> {
			RuntimeException error = answers.poll();
			if (error != null) {
				throw error;
			}
		});
		log.resolved(partition, 0);
		answers.add(new QueueException("no answer", null));

		log.commit();
		assertThat(consumer.offsets).isEmpty();
		log.commit();
		assertThat(consumer.offsets).hasSize(1);

		answers.add(new JobFailedException("belongs to another", null));
		assertThatThrownBy(log::save).isInstanceOf(JobFailedException.class);
	}

	@Test
	void editedStubThatWasWrittenToItsSourceIsNoStubAnyMore() {
		String topic = topic("fault-stub", 1);
		stub(topic);

		try (QueueApp app = app(topic).start()) {
			replayFirst(app, JobTarget.SOURCE, new Edit(bytes("bad"), Map.of()));
			QueueApp.eventually().until(() -> Broker.records(topic + "-dlq").size() == 2);

			JobView job = merge(app, LetterFilter.NONE);
			assertThat(job.skipped()).isEmpty();
			assertThat(job.moved()).isEqualTo(1);
		}
	}

	@Test
	void editedStubThatFailsAgainIsNoStubAnyMore() {
		String topic = topic("fault-restub", 1);
		stub(topic);

		try (QueueApp app = app(topic).start()) {
			replayFirst(app, JobTarget.HANDLER, new Edit(bytes("bad"), Map.of()));

			JobView job = merge(app, LetterFilter.NONE);
			assertThat(job.skipped()).isEmpty();
			assertThat(job.moved()).isEqualTo(1);
		}
	}

	@Test
	void markersOfTransactionsAreNotCountedAsUnresolvedLetters() {
		String topic = topic("fault-marker", 1);
		try (KafkaProducer<byte[], byte[]> producer = producer(
				Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "fault-marker"))) {
			producer.initTransactions();
			for (int number = 0; number < 3; number++) {
				producer.beginTransaction();
				producer.send(letter(topic, 0, "key", "order-" + number));
				producer.commitTransaction();
			}
		}

		try (QueueApp app = app(topic).start()) {
			assertThat(merge(app, LetterFilter.NONE).moved()).isEqualTo(3);
			assertThat(unresolved(topic, 1)).isZero();
		}
	}

	@Test
	void retentionDuringAJobHidesNoLettersAndEndsTheJob() {
		String topic = topic("fault-retention", 1);
		letters(topic, 3_000, "order-");

		try (QueueApp app = app(topic).start()) {
			DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
			JobView job = start(jobs, app, JobTarget.HANDLER, 500);
			awaitRunning(jobs, job.id());
			TopicPartition partition = new TopicPartition(topic + "-dlq", 0);
			Broker.await(Broker.admin().deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(2_900))).all());
			JobView ended = await(app, job.id());

			assertThat(ended.status()).isEqualTo(JobStatus.COMPLETED);
			assertThat(app.bean(Handler.class).handled).doesNotHaveDuplicates().contains("order-2900", "order-2999");
			assertThat(unresolved(topic, 1)).isZero();
		}
	}

	private static boolean isOver(DeadLetterJobs jobs, String id) {
		return jobs.find(id).orElseThrow().status().isEnded();
	}

	private static boolean isOwner(String id) {
		JobLock.Owner owner = JobLock.owner(new ClusterLook(Broker.admin()), "fault.dlq", null);
		return owner != null && owner.job().equals(id);
	}

	private static void joinAndLeave(QueueApp app, String topic, String id) {
		JobLock lock = new JobLock(List.of(topic + "-dlq"));
		try (Consumer<byte[], byte[]> other = app.bean(QueueRuntime.class)
			.jobClients()
			.consumer(JobLock.settings("fault.dlq", id, "elsewhere", System.currentTimeMillis()))) {
			other.subscribe(List.of(topic + "-dlq"), lock);
			QueueApp.eventually().until(() -> {
				other.poll(Duration.ofMillis(20));
				return lock.isDecided();
			});
			assertThat(other.assignment()).isEmpty();
		}
	}

	private static String topic(String name, int partitions) {
		String topic = Broker.newTopic(name, partitions);
		Broker.createTopic(topic + "-dlq", partitions, Map.of());
		return topic;
	}

	private static void letters(String topic, int count, String prefix) {
		int partitions = Broker.partitionsOf(topic + "-dlq");
		try (KafkaProducer<byte[], byte[]> producer = producer(Map.of())) {
			for (int number = 0; number < count; number++) {
				producer.send(letter(topic, number % partitions, "key-" + number, prefix + number));
			}
		}
	}

	private static ProducerRecord<byte[], byte[]> letter(String topic, int partition, String key, String value) {
		ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>(topic + "-dlq", partition, bytes(key),
				bytes(value));
		letter.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, bytes(topic));
		return letter;
	}

	/** Writes a dead letter without its value. */
	private static void stub(String topic) {
		ProducerRecord<byte[], byte[]> stub = new ProducerRecord<>(topic + "-dlq", 0, bytes("key"), null);
		stub.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, bytes(topic));
		stub.headers().add(DeadLetterHeaders.DROPPED_BYTES, bytes("123"));
		Broker.send(stub);
	}

	private static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
		Map<String, Object> all = new HashMap<>(settings);
		all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, Broker.bootstrap());
		return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Handler.class)
			.with("fault.topic", topic)
			.with("kafka-queue.listeners.fault.retry.local.max-attempts", 1);
	}

	private static JobView merge(QueueApp app, LetterFilter filter) {
		JobRequest request = new JobRequest(JobAction.MERGE, filter, JobTarget.HANDLER, 0, Long.MAX_VALUE, null, null,
				"ana", "INC-7");
		return await(app, app.bean(DeadLetterJobs.class).start(app.queue("fault"), request).id());
	}

	private static void replayFirst(QueueApp app, JobTarget target, Edit edit) {
		JobRequest request = new JobRequest(JobAction.REPLAY, LetterFilter.parse(Map.of("offsets", "0@0")), target, 0,
				1, edit, null, "ana", "INC-7");
		await(app, app.bean(DeadLetterJobs.class).start(app.queue("fault"), request).id());
	}

	private static JobView start(DeadLetterJobs jobs, QueueApp app, JobTarget target, int rate) {
		return jobs.start(app.queue("fault"), new JobRequest(JobAction.MERGE, LetterFilter.NONE, target, rate,
				Long.MAX_VALUE, null, null, "ana", "INC-7"));
	}

	private static void awaitRunning(DeadLetterJobs jobs, String id) {
		QueueApp.eventually().until(() -> jobs.find(id).orElseThrow().status() != JobStatus.PENDING);
	}

	private static JobView await(QueueApp app, String id) {
		DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
		QueueApp.eventually().until(() -> jobs.find(id).orElseThrow().status().isEnded());
		return jobs.find(id).orElseThrow();
	}

	private static long unresolved(String topic, int partitions) {
		long unresolved = 0;
		for (int partition = 0; partition < partitions; partition++) {
			Resolved resolved = Resolved.of(Broker.committed("fault.dlq", topic + "-dlq", partition), Long.MAX_VALUE);
			unresolved += resolved.unresolved(0, Broker.end(new TopicPartition(topic + "-dlq", partition)));
		}
		return unresolved;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** Clients whose consumers stand still for a while, as in a process that does. */
	private static final class Stall implements JobClients {

		private final JobClients clients;

		private final AtomicBoolean stalled = new AtomicBoolean();

		Stall(JobClients clients) {
			this.clients = clients;
		}

		void begin() {
			this.stalled.set(true);
		}

		void end() {
			this.stalled.set(false);
		}

		@Override
		@SuppressWarnings("unchecked")
		public Consumer<byte[], byte[]> consumer(Map<String, Object> overrides) {
			Consumer<byte[], byte[]> consumer = this.clients.consumer(overrides);
			return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(Consumer.class.getClassLoader(),
					new Class<?>[] { Consumer.class }, (proxy, method, arguments) -> {
						if (method.getName().equals("poll")) {
							QueueApp.eventually().until(() -> !this.stalled.get());
						}
						try {
							return method.invoke(consumer, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

		@Override
		public Producer<byte[], byte[]> producer() {
			return this.clients.producer();
		}

		@Override
		public Admin admin() {
			return this.clients.admin();
		}

	}

	/** A consumer whose commits fail as they are told to. */
	private static final class FailingCommits extends MockConsumer<byte[], byte[]> {

		final Queue<RuntimeException> errors = new ConcurrentLinkedQueue<>();

		final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();

		FailingCommits() {
			super("earliest");
		}

		@Override
		public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions, Duration timeout) {
			return Map.of();
		}

		@Override
		public void commitAsync(Map<TopicPartition, OffsetAndMetadata> changes, OffsetCommitCallback callback) {
			RuntimeException error = this.errors.poll();
			if (error == null) {
				this.offsets.putAll(changes);
			}
			callback.onComplete(changes, error);
		}

		@Override
		public void commitSync(Map<TopicPartition, OffsetAndMetadata> changes, Duration timeout) {
			RuntimeException error = this.errors.poll();
			if (error != null) {
				throw error;
			}
			this.offsets.putAll(changes);
		}

		@Override
		public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
			return ConsumerRecords.empty();
		}

	}

	static class Handler {

		final Queue<String> handled = new ConcurrentLinkedQueue<>();

		final Hold hold = new Hold();

		@QueueListener(id = "fault", topics = "${fault.topic}", groupId = "fault")
		void handle(@Nullable String value) throws InterruptedException {
			String text = String.valueOf(value);
			if (text.startsWith("bad")) {
				throw new IllegalStateException("cannot handle it");
			}
			if (text.startsWith("held") || (text.startsWith("once") && this.hold.arrived() == 0)) {
				this.hold.await();
			}
			this.handled.add(text);
		}

	}

}
