package io.queuestarter.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaConsumerFactoryCustomizer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.MessageListenerContainer;

import io.queuestarter.QueueListener;
import io.queuestarter.container.Queue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One queue on a topic of its own, served by one application or several of the same
 * group, with a journal of its handler and an auditor of its commits.
 */
public final class Trial implements AutoCloseable {

	/** Id of the queue in every application. */
	public static final String QUEUE = "trial";

	private final String topic;

	private final Journal journal = new Journal();

	private final CommitAuditor auditor = new CommitAuditor(this.journal);

	private final List<QueueApp> apps = new ArrayList<>();

	private final List<Supplier<ConsumerTap>> taps = new CopyOnWriteArrayList<>();

	private final List<java.util.function.Consumer<GenericApplicationContext>> preparations = new ArrayList<>();

	private volatile Work work = (record) -> true;

	private Trial(String topic) {
		this.topic = topic;
	}

	/** Begins a trial on a new topic. */
	public static Trial on(String name, int partitions) {
		return new Trial(Broker.newTopic(name, partitions));
	}

	/** Begins a trial on a topic of a cluster that the applications are told of. */
	public static Trial in(String topic) {
		return new Trial(topic);
	}

	/** Name of the topic, and of the group. */
	public String topic() {
		return this.topic;
	}

	/** A partition of the topic. */
	public TopicPartition partition(int number) {
		return new TopicPartition(this.topic, number);
	}

	/** What the handlers did. */
	public Journal journal() {
		return this.journal;
	}

	/** What was wrong with commits, and how many there were. */
	public CommitAuditor auditor() {
		return this.auditor;
	}

	/** Says what handlers do from now on. */
	public Trial work(Work newWork) {
		this.work = newWork;
		return this;
	}

	/** Puts taps of a kind below the auditor, on all consumers made later. */
	public Trial tap(Supplier<ConsumerTap> tap) {
		this.taps.add(tap);
		return this;
	}

	/** Prepares the contexts of all applications that start later. */
	public Trial prepare(java.util.function.Consumer<GenericApplicationContext> preparation) {
		this.preparations.add(preparation);
		return this;
	}

	/** Starts an application with properties, each {@code name=value}. */
	public QueueApp start(String... properties) {
		int number = this.apps.size();
		QueueApp.Builder builder = QueueApp.of().with("topic", this.topic);
		for (String property : properties) {
			int equals = property.indexOf('=');
			builder.with(property.substring(0, equals), property.substring(equals + 1));
		}
		builder.prepare((context) -> {
			context.registerBean(Handler.class, () -> new Handler(this, number));
			context.registerBean(DefaultKafkaConsumerFactoryCustomizer.class, () -> this::customize);
		});
		this.preparations.forEach(builder::prepare);
		QueueApp app = builder.start();
		this.apps.add(app);
		return app;
	}

	@SuppressWarnings("unchecked")
	private void customize(DefaultKafkaConsumerFactory<?, ?> factory) {
		((DefaultKafkaConsumerFactory<Object, Object>) factory).addPostProcessor((consumer) -> {
			Consumer<Object, Object> tapped = consumer;
			for (Supplier<ConsumerTap> tap : this.taps) {
				tapped = ConsumerTap.tap(tapped, tap.get());
			}
			return ConsumerTap.tap(tapped, this.auditor.tap());
		});
	}

	/** The queue of an application. */
	public static Queue queue(QueueApp app) {
		return app.queue(QUEUE);
	}

	/** The listener container of an application. */
	public static MessageListenerContainer container(QueueApp app) {
		return Objects.requireNonNull(app.bean(KafkaListenerEndpointRegistry.class).getListenerContainer(QUEUE));
	}

	/** Sends numbers as text, to partitions in turn. */
	public void send(int partitions, int count) {
		Broker.sendNumbers(this.topic, partitions, count);
	}

	/** What the group has committed for a partition, or -1. */
	public long committed(int partition) {
		return Broker.committedOffset(this.topic, this.topic, partition);
	}

	/** Metadata that the group has committed for a partition. */
	public String metadata(int partition) {
		OffsetAndMetadata committed = Broker.committed(this.topic, this.topic, partition);
		return (committed != null) ? committed.metadata() : "";
	}

	/** Waits until so many records ended well, and as many offsets are committed. */
	public void awaitAll(int records) {
		awaitHandled(records);
		awaitCommitted(records);
	}

	/** Waits until so many records ended well. */
	public void awaitHandled(int records) {
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(this.journal.records()).as("records handled").isEqualTo(records));
	}

	/** Waits until so many offsets are committed. */
	public void awaitCommitted(long offsets) {
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(Broker.committedSum(this.topic, this.topic)).as("offsets committed")
				.isEqualTo(offsets));
	}

	/** Waits until nothing is left over in a queue. */
	public static void awaitQuiet(QueueApp app) {
		Queue queue = queue(app);
		QueueApp.eventually().untilAsserted(() -> {
			assertThat(queue.inFlight()).as("in flight").isZero();
			assertThat(queue.buffered()).as("buffered").isZero();
			assertThat(queue.bufferedBytes()).as("buffered bytes").isZero();
			assertThat(queue.retryWaiting()).as("waiting for a retry").isZero();
			assertThat(queue.partitions()).allSatisfy((view) -> {
				assertThat(view.paused()).as("paused").isFalse();
				assertThat(view.tracked()).as("tracked").isZero();
			});
		});
	}

	/** Waits until an application has so many partitions. */
	public static void awaitPartitions(QueueApp app, int count) {
		QueueApp.eventually()
			.untilAsserted(() -> assertThat(queue(app).partitions()).as("assigned partitions").hasSize(count));
	}

	@Override
	public void close() {
		this.apps.forEach(QueueApp::close);
		assertThat(this.auditor.violations()).as("commits that were wrong").isEmpty();
	}

	/**
	 * What a handler does with a record.
	 */
	@FunctionalInterface
	public interface Work {

		/**
		 * Handles a record.
		 * @param record the record
		 * @return whether the journal notes it as settled
		 * @throws Exception if the attempt failed
		 */
		boolean on(ConsumerRecord<String, String> record) throws Exception;

	}

	static final class Handler {

		private final Trial trial;

		private final int app;

		Handler(Trial trial, int app) {
			this.trial = trial;
			this.app = app;
		}

		@QueueListener(id = QUEUE, topics = "${topic}", groupId = "${topic}", concurrency = "${concurrency:1}")
		void handle(ConsumerRecord<String, String> record) throws Exception {
			Journal.Run run = new Journal.Run(this.app, new TopicPartition(record.topic(), record.partition()),
					record.offset());
			this.trial.auditor.begun(run);
			this.trial.journal.start(run);
			if (this.trial.work.on(record)) {
				this.trial.journal.finish(run);
			}
		}

	}

}
