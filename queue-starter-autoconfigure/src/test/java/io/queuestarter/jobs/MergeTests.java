package io.queuestarter.jobs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.support.KafkaHeaders;

import io.queuestarter.QueueContext;
import io.queuestarter.QueueListener;
import io.queuestarter.browse.LetterFilter;
import io.queuestarter.browse.Resolved;
import io.queuestarter.delivery.History;
import io.queuestarter.testkit.Broker;
import io.queuestarter.testkit.DeadLetter;
import io.queuestarter.testkit.QueueApp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Dead letters that are handled again. The handler fails for values that begin with
 * "bad", and for all values while it is broken.
 */
class MergeTests {

	@Test
	void M1_eachRunMovesExactlyWhatLayThereAtItsStartUntilTheCapIsReached() {
		String topic = Broker.newTopic("merge-m1", 2);
		for (int number = 0; number < 4; number++) {
			Broker.send(topic, "key-" + number, "bad-" + number);
		}

		try (QueueApp app = app(topic).start()) {
			DeadLetter.await(topic, 4);
			for (int run = 1; run <= 3; run++) {
				JobView job = merge(app, LetterFilter.NONE, JobTarget.HANDLER);
				assertThat(job.status()).isEqualTo(JobStatus.COMPLETED);
				assertThat(job.moved()).isEqualTo(4);
				assertThat(job.failedAgain()).isEqualTo(4);
				assertThat(Broker.records(topic + "-dlq")).hasSize(4 * (run + 1));
			}
			for (int run = 0; run < 2; run++) {
				JobView job = merge(app, LetterFilter.NONE, JobTarget.HANDLER);
				assertThat(job.moved()).isZero();
				assertThat(job.skipped()).isEqualTo(Map.of("max_merges", 4L));
				assertThat(job.skippedLetters()).hasSize(4);
			}
			assertThat(app.bean(Handler.class).merges).containsExactlyInAnyOrder(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3,
					3, 3, 3);
			assertThat(Broker.records(topic + "-dlq").stream().map(MergeTests::merges)).containsExactlyInAnyOrder(0, 0,
					0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
		}
	}

	@Test
	void M2_mergedRecordHasAllItsAttemptsAgain() {
		String topic = Broker.newTopic("merge-m2", 1);
		Broker.send(topic, "key", "order");

		try (QueueApp app = app(topic).with("kafka-queue.listeners.merge.retry.local.max-attempts", 3).start()) {
			Handler handler = app.bean(Handler.class);
			handler.broken = true;
			DeadLetter.awaitOne(topic);
			handler.broken = false;
			handler.attempts.clear();
			handler.failures.set(2);

			JobView job = merge(app, LetterFilter.NONE, JobTarget.HANDLER);

			assertThat(job.moved()).isEqualTo(1);
			assertThat(job.failedAgain()).isZero();
			assertThat(handler.attempts).containsExactly(1, 2, 3);
			assertThat(handler.handled).containsExactly("order");
			assertThat(unresolved(topic)).isZero();
			assertThat(merge(app, LetterFilter.NONE, JobTarget.HANDLER).moved()).isZero();
		}
	}

	@Test
	void onlyWhatTheFilterMatchesIsMergedAndStaysResolvedAfterARestart() {
		String topic = Broker.newTopic("merge-filter", 1);
		for (int number = 0; number < 10; number++) {
			Broker.send(topic, "key-" + number, "order-" + number);
		}
		LetterFilter filter = LetterFilter.parse(Map.of("offsets", "0@2,0@5-6"));
		Set<String> handled = new HashSet<>();

		try (QueueApp app = app(topic).start()) {
			breakUntilDeadLettered(app, topic, 10);
			JobView job = merge(app, filter, JobTarget.HANDLER);
			assertThat(job.moved()).isEqualTo(3);
			assertThat(job.scanned()).as("from the first to the last that is meant").isEqualTo(5);
			handled.addAll(app.bean(Handler.class).handled);
			assertThat(handled).hasSize(3);
		}
		try (QueueApp app = app(topic).start()) {
			JobView job = merge(app, LetterFilter.NONE, JobTarget.HANDLER);
			assertThat(job.moved()).isEqualTo(7);
			handled.addAll(app.bean(Handler.class).handled);
			assertThat(handled).hasSize(10);
			assertThat(unresolved(topic)).isZero();
		}
	}

	@Test
	void mergeToTheSourceWritesRecordsAsTheyWere() {
		String topic = Broker.newTopic("merge-source", 3);
		ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 2, bytes("key"), bytes("order"));
		record.headers().add("tenant", bytes("blue"));
		Broker.send(record);

		try (QueueApp app = app(topic).start()) {
			breakUntilDeadLettered(app, topic, 1);
			JobView job = merge(app, LetterFilter.NONE, JobTarget.SOURCE);
			assertThat(job.moved()).isEqualTo(1);
			QueueApp.eventually().until(() -> !app.bean(Handler.class).handled.isEmpty());
			assertThat(app.bean(Handler.class).merges).endsWith(1);
		}
		List<ConsumerRecord<byte[], byte[]>> records = Broker.records(topic);
		assertThat(records).hasSize(2).allSatisfy((copy) -> {
			assertThat(copy.partition()).isEqualTo(2);
			assertThat(copy.key()).isEqualTo(bytes("key"));
			assertThat(copy.value()).isEqualTo(bytes("order"));
		});
		assertThat(records.get(1).headers()).extracting(Header::key).containsExactly("tenant", History.MERGES);
	}

	@Test
	void lettersWithoutOrOfAForeignOriginStayAndAreListed() {
		String topic = Broker.newTopic("merge-foreign", 1);
		Broker.createTopic(topic + "-dlq", 1, Map.of());
		Broker.send(topic + "-dlq", "key", "no headers");
		ProducerRecord<byte[], byte[]> foreign = new ProducerRecord<>(topic + "-dlq", bytes("key"), bytes("foreign"));
		foreign.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, bytes("elsewhere"));
		Broker.send(foreign);
		ProducerRecord<byte[], byte[]> springs = new ProducerRecord<>(topic + "-dlq", bytes("key"), bytes("springs"));
		springs.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, bytes(topic));
		Broker.send(springs);

		try (QueueApp app = app(topic).start()) {
			JobView job = merge(app, LetterFilter.NONE, JobTarget.HANDLER);

			assertThat(job.moved()).isEqualTo(1);
			assertThat(app.bean(Handler.class).handled).containsExactly("springs");
			assertThat(job.skippedLetters()).containsExactly(new JobView.Skipped(topic + "-dlq-0@0", "no_origin"),
					new JobView.Skipped(topic + "-dlq-0@1", "foreign_origin"));
			assertThat(unresolved(topic)).isEqualTo(2);
		}
	}

	@Test
	void lettersOfAnotherGroupAreNotCopiedEither() {
		String topic = Broker.newTopic("merge-shared", 1);
		String target = Broker.newTopic("merge-target", 1);
		Broker.createTopic(topic + "-dlq", 1, Map.of());
		for (String group : List.of("others", "merge")) {
			ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>(topic + "-dlq", bytes("key"), bytes(group));
			letter.headers().add(KafkaHeaders.DLT_ORIGINAL_TOPIC, bytes(topic));
			letter.headers().add(KafkaHeaders.DLT_ORIGINAL_CONSUMER_GROUP, bytes(group));
			Broker.send(letter);
		}

		try (QueueApp app = app(topic).start()) {
			JobView job = merge(app, LetterFilter.NONE, JobTarget.topic(target));

			assertThat(job.moved()).isEqualTo(1);
			assertThat(job.skippedLetters()).containsExactly(new JobView.Skipped(topic + "-dlq-0@0", "foreign_group"));
			assertThat(Broker.records(target)).singleElement()
				.satisfies((copy) -> assertThat(copy.value()).isEqualTo(bytes("merge")));
		}
	}

	@Test
	void M3_secondJobIsToldWhichOneRunsAndWhere() {
		String topic = Broker.newTopic("merge-m3", 1);
		for (int number = 0; number < 20; number++) {
			Broker.send(topic, "key-" + number, "order-" + number);
		}
		try (QueueApp first = app(topic).start()) {
			breakUntilDeadLettered(first, topic, 20);
			JobView running = start(first, LetterFilter.NONE, JobTarget.HANDLER, 2);
			try (QueueApp second = app(topic).start()) {
				DeadLetterJobs jobs = first.bean(DeadLetterJobs.class);
				QueueApp.eventually().until(() -> jobs.find(running.id()).orElseThrow().status() == JobStatus.RUNNING);

				assertThatThrownBy(() -> start(first, LetterFilter.NONE, JobTarget.HANDLER, 0))
					.isInstanceOf(JobRunningException.class)
					.hasMessageContaining(running.id());
				assertThatThrownBy(() -> start(second, LetterFilter.NONE, JobTarget.HANDLER, 0))
					.isInstanceOf(JobRunningException.class)
					.hasMessageContaining(running.id());
				assertThat(jobs.cancel(running.id(), "ana")).isTrue();
				JobView cancelled = await(first, running.id());
				assertThat(cancelled.status()).isEqualTo(JobStatus.CANCELLED);
				assertThat(cancelled.moved()).isBetween(1L, 19L);

				JobView rest = merge(second, LetterFilter.NONE, JobTarget.HANDLER);
				assertThat(rest.moved()).isEqualTo(20 - cancelled.moved());
			}
		}
	}

	@Test
	void M3_mergeGoesOnWhileTheQueueIsStoppedOrWaitsForIt() {
		String topic = Broker.newTopic("merge-stopped", 1);
		for (int number = 0; number < 4; number++) {
			Broker.send(topic, "key-" + number, "order-" + number);
		}
		try (QueueApp app = app(topic).start()) {
			breakUntilDeadLettered(app, topic, 4);
			MessageListenerContainer container = Objects
				.requireNonNull(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer("merge"));
			container.stop();

			JobView copied = merge(app, LetterFilter.parse(Map.of("offsets", "0@0-1")), JobTarget.SOURCE);
			assertThat(copied.moved()).isEqualTo(2);
			assertThat(Broker.records(topic)).hasSize(6);

			String waiting = start(app, LetterFilter.NONE, JobTarget.HANDLER, 0).id();
			DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
			QueueApp.eventually().until(() -> "queue is STOPPED".equals(jobs.find(waiting).orElseThrow().waitsFor()));
			assertThat(app.bean(Handler.class).handled).isEmpty();
			container.start();
			assertThat(await(app, waiting).moved()).isEqualTo(2);
			QueueApp.eventually().until(() -> Set.copyOf(app.bean(Handler.class).handled).size() == 4);
		}
	}

	@Test
	void M4_purgeOfACompactedTopicIsRefusedAndChangesNothing() {
		String topic = Broker.newTopic("merge-m4", 1);
		Broker.createTopic(topic + "-dlq", 2, Map.of("cleanup.policy", "compact"));
		Broker.send(topic, "key", "bad");

		try (QueueApp app = app(topic).start()) {
			DeadLetter.await(topic, 1);
			JobView job = await(app, purge(app, LetterFilter.NONE).id());

			assertThat(job.status()).isEqualTo(JobStatus.FAILED);
			assertThat(job.lastError()).contains(topic + "-dlq-0", topic + "-dlq-1", "cleanup.policy is 'compact'");
			assertThat(Broker.records(topic + "-dlq")).hasSize(1);
			assertThat(unresolved(topic)).isEqualTo(1);
		}
	}

	@Test
	void M4_purgeOfAnEmptyTopicSucceedsWithNothing() {
		String topic = Broker.newTopic("merge-empty", 1);

		try (QueueApp app = app(topic).start()) {
			QueueApp.eventually().until(() -> Broker.partitionsOf(topic + "-dlq") == 1);
			JobView job = await(app, purge(app, LetterFilter.NONE).id());

			assertThat(job.status()).isEqualTo(JobStatus.COMPLETED);
			assertThat(job.moved()).isZero();
		}
	}

	@Test
	void purgeOfAllDeletesAndPurgeWithAFilterMarks() {
		String topic = Broker.newTopic("merge-purge", 1);
		for (int number = 0; number < 6; number++) {
			Broker.send(topic, "key-" + (number % 2), "bad-" + number);
		}
		try (QueueApp app = app(topic).start()) {
			DeadLetter.await(topic, 6);
			JobView marked = await(app, purge(app, LetterFilter.parse(Map.of("key", "key-1"))).id());
			assertThat(marked.moved()).isEqualTo(3);
			assertThat(Broker.records(topic + "-dlq")).hasSize(6);
			assertThat(unresolved(topic)).isEqualTo(3);

			JobView deleted = await(app, purge(app, LetterFilter.NONE).id());
			assertThat(deleted.status()).isEqualTo(JobStatus.COMPLETED);
			assertThat(Broker.records(topic + "-dlq")).isEmpty();
			assertThat(unresolved(topic)).isZero();
		}
	}

	@Test
	void replayHandlesTheLetterWithItsNewValue() {
		String topic = Broker.newTopic("merge-edit", 1);
		Broker.send(topic, "key", "bad");

		try (QueueApp app = app(topic).start()) {
			DeadLetter.awaitOne(topic);
			JobRequest request = new JobRequest(JobAction.REPLAY, LetterFilter.parse(Map.of("offsets", "0@0")),
					JobTarget.HANDLER, 0, 1, new Edit(bytes("good"), Map.of("fixed", "yes")), null, "ana", "INC-7");
			JobView job = await(app, app.bean(DeadLetterJobs.class).start(app.queue("merge"), request).id());

			assertThat(job.moved()).isEqualTo(1);
			assertThat(app.bean(Handler.class).handled).containsExactly("good");
			assertThat(new String(Broker.records(topic + "-dlq").get(0).value(), StandardCharsets.UTF_8))
				.isEqualTo("bad");
		}
	}

	private static QueueApp.Builder app(String topic) {
		return QueueApp.of(Handler.class)
			.with("merge.topic", topic)
			.with("kafka-queue.listeners.merge.retry.local.max-attempts", 1);
	}

	private static void breakUntilDeadLettered(QueueApp app, String topic, int count) {
		Handler handler = app.bean(Handler.class);
		handler.broken = true;
		DeadLetter.await(topic, count);
		handler.broken = false;
	}

	private static JobView merge(QueueApp app, LetterFilter filter, JobTarget target) {
		return await(app, start(app, filter, target, 0).id());
	}

	private static JobView start(QueueApp app, LetterFilter filter, JobTarget target, int rate) {
		return app.bean(DeadLetterJobs.class)
			.start(app.queue("merge"),
					new JobRequest(JobAction.MERGE, filter, target, rate, Long.MAX_VALUE, null, null, "ana", "INC-7"));
	}

	private static JobView purge(QueueApp app, LetterFilter filter) {
		return app.bean(DeadLetterJobs.class)
			.start(app.queue("merge"), new JobRequest(JobAction.PURGE, filter, JobTarget.HANDLER, 0, Long.MAX_VALUE,
					null, null, "ana", "INC-7"));
	}

	private static JobView await(QueueApp app, String id) {
		DeadLetterJobs jobs = app.bean(DeadLetterJobs.class);
		QueueApp.eventually().until(() -> jobs.find(id).orElseThrow().status().isEnded());
		return jobs.find(id).orElseThrow();
	}

	private static long unresolved(String topic) {
		long unresolved = 0;
		for (int partition = 0; partition < Broker.partitionsOf(topic + "-dlq"); partition++) {
			Resolved resolved = Resolved.of(Broker.committed("merge.dlq", topic + "-dlq", partition), Long.MAX_VALUE);
			unresolved += resolved.unresolved(0, Broker.end(new TopicPartition(topic + "-dlq", partition)));
		}
		return unresolved;
	}

	private static int merges(ConsumerRecord<?, ?> record) {
		return History.number(record, History.MERGES);
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static class Handler {

		final AtomicInteger failures = new AtomicInteger();

		final Queue<String> handled = new ConcurrentLinkedQueue<>();

		final List<Integer> attempts = Collections.synchronizedList(new ArrayList<>());

		final List<Integer> merges = Collections.synchronizedList(new ArrayList<>());

		volatile boolean broken;

		@QueueListener(id = "merge", topics = "${merge.topic}", groupId = "merge")
		void handle(@Nullable String value, QueueContext context) {
			this.attempts.add(context.attempt());
			this.merges.add(context.mergeCount());
			if (this.broken || this.failures.getAndDecrement() > 0 || String.valueOf(value).startsWith("bad")) {
				throw new IllegalStateException("cannot handle it");
			}
			this.handled.add(String.valueOf(value));
		}

	}

}
