package io.queuestarter.testkit;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Worker processes on one topic under a steady load, while faults happen.
 */
public final class ProcessTrial implements AutoCloseable {

	private static final Logger LOGGER = LoggerFactory.getLogger(ProcessTrial.class);

	/** Records that a worker process handles at one time, at most. */
	public static final int MAX_IN_FLIGHT = 8;

	private static final int TICK_MILLIS = 10;

	private final String bootstrap;

	private final String topic;

	private final int partitions;

	private final Path folder;

	private final List<Path> journals = new ArrayList<>();

	private final List<AutoCloseable> workers = new ArrayList<>();

	private final List<Fault> faults = new ArrayList<>();

	private final KafkaProducer<byte[], byte[]> producer;

	private final ScheduledExecutorService sender = Executors.newSingleThreadScheduledExecutor();

	private final AtomicLong numbers = new AtomicLong();

	/** Records that the broker has acknowledged, as partition@offset. */
	private final Set<Sent> sent = ConcurrentHashMap.newKeySet();

	/** Begins a trial on an empty topic; files go to an empty folder. */
	public ProcessTrial(String bootstrap, String topic, int partitions, Path folder) {
		this.bootstrap = bootstrap;
		this.topic = topic;
		this.partitions = partitions;
		this.folder = folder;
		// One request at a time: on a new topic the first ones may overtake each other,
		// and an idempotent producer then repeats them in vain.
		this.producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap, ProducerConfig.LINGER_MS_CONFIG, 5,
						ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1),
				new ByteArraySerializer(), new ByteArraySerializer());
	}

	/** Name of the topic, and of the group. */
	public String topic() {
		return this.topic;
	}

	/** Starts a worker in a JVM of its own, with properties, each {@code name=value}. */
	public WorkerProcess start(String... properties) {
		int number = this.journals.size();
		List<String> arguments = properties(properties).map((property) -> "--" + property).toList();
		ChildJvm jvm = ChildJvm.start(Worker.class, this.folder.resolve("worker-" + number + ".log"), arguments);
		this.workers.add(jvm);
		return new WorkerProcess(number, this.journals.get(number), jvm);
	}

	/** Starts a worker within the JVM of the test, with one more bean. */
	public QueueApp startWithin(Class<?> bean, String... properties) {
		QueueApp.Builder builder = QueueApp.of(Worker.class, bean);
		properties(properties).map((property) -> property.split("=", 2))
			.forEach((parts) -> builder.with(parts[0], parts[1]));
		QueueApp app = builder.start();
		this.workers.add(app);
		return app;
	}

	private Stream<String> properties(String... more) {
		Path journal = this.folder.resolve("worker-" + this.journals.size() + ".journal");
		this.journals.add(journal);
		Stream<String> all = Stream.of("topic=" + this.topic, "journal=" + journal,
				"spring.kafka.bootstrap-servers=" + this.bootstrap, "spring.main.banner-mode=off",
				"spring.main.web-application-type=none", "kafka-queue.defaults.dispatch.max-in-flight=" + MAX_IN_FLIGHT,
				"kafka-queue.defaults.ledger.commit-interval=200ms", "spring.kafka.consumer.fetch-max-wait=100ms");
		return Stream.concat(all, Stream.of(more));
	}

	/** Sends so many records a second from now on, to partitions in turn. */
	public void load(int perSecond) {
		this.sender.scheduleAtFixedRate(() -> {
			for (int i = 0; i < perSecond * TICK_MILLIS / 1000; i++) {
				send();
			}
		}, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
	}

	private void send() {
		long number = this.numbers.getAndIncrement();
		int partition = (int) (number % this.partitions);
		byte[] value = Long.toString(number).getBytes(StandardCharsets.UTF_8);
		this.producer.send(new ProducerRecord<>(this.topic, partition, null, value), (metadata, error) -> {
			if (error == null) {
				this.sent.add(new Sent(partition, metadata.offset()));
			}
		});
	}

	/** Ends the load, and waits until the broker has it all. */
	private void endLoad() {
		this.sender.shutdown();
		try {
			assertThat(this.sender.awaitTermination(60, TimeUnit.SECONDS)).as("sender ends").isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.producer.flush();
		assertThat(this.sent.size()).as("records that the broker took").isEqualTo((int) this.numbers.get());
	}

	/** Notes that something bad happens now. */
	public Fault fault(String what) {
		Fault fault = new Fault(what, DiskJournal.micros(Instant.now()));
		this.faults.add(fault);
		return fault;
	}

	/** Reads the journals. */
	public Deliveries deliveries() {
		return Deliveries.of(lines());
	}

	private List<DiskJournal.Line> lines() {
		return IntStream.range(0, this.journals.size())
			.boxed()
			.flatMap((number) -> DiskJournal.read(this.journals.get(number), number).stream())
			.toList();
	}

	/** Awaits with the limit that all tests of processes use. */
	public static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofMinutes(3)).pollInterval(Duration.ofMillis(100));
	}

	/** Waits until so many partitions are with the worker that started at a place. */
	public void awaitOwned(int number, int count) {
		eventually().untilAsserted(
				() -> assertThat(deliveries().ownedBy(number)).as("partitions of worker " + number).hasSize(count));
	}

	/** Waits until some worker has brought a record to an end, from now on. */
	public void awaitEnd() {
		awaitNext(DiskJournal.Event.ENDED);
	}

	/** Waits until the broker has acknowledged a commit, from now on. */
	public void awaitCommit() {
		awaitNext(DiskJournal.Event.COMMITTED);
	}

	private void awaitNext(DiskJournal.Event event) {
		long now = DiskJournal.micros(Instant.now());
		eventually().until(() -> lines().stream().anyMatch((line) -> line.event() == event && line.micros() > now));
	}

	/** Waits until so many partitions were assigned to a worker, and to none after it. */
	public void awaitOwned(WorkerProcess worker, int count) {
		awaitOwned(worker.number(), count);
	}

	/**
	 * Ends the load, and waits until each record sent has been handled to its end; what
	 * is never handled is lost.
	 */
	public Deliveries awaitAll() {
		endLoad();
		eventually().untilAsserted(() -> assertThat(lost(deliveries())).as("lost").isEmpty());
		eventually().untilAsserted(
				() -> assertThat(deliveries().committed()).as("offsets committed").isEqualTo(this.sent.size()));
		Deliveries deliveries = deliveries();
		report(deliveries);
		return deliveries;
	}

	private List<Sent> lost(Deliveries deliveries) {
		return this.sent.stream()
			.filter((record) -> !deliveries.hasEnded(record.partition(), record.offset()))
			.toList();
	}

	private void report(Deliveries deliveries) {
		LOGGER.info("{}: {} records sent, {} lost, {} faults, {} stale starts", this.topic, this.sent.size(),
				lost(deliveries).size(), this.faults.size(), deliveries.stale().size());
		for (int i = 0; i < this.faults.size(); i++) {
			Fault fault = this.faults.get(i);
			long until = (i + 1 < this.faults.size()) ? this.faults.get(i + 1).micros() : Long.MAX_VALUE;
			List<Deliveries.Takeover> takeovers = takeovers(deliveries, fault);
			LOGGER.info("{}: {} redelivered, bound {}, longest stall {} ms", fault.what(),
					takeovers.stream().mapToInt((takeover) -> takeover.redelivered().size()).sum(),
					takeovers.stream().mapToInt(Deliveries.Takeover::bound).sum(), stallMillis(fault, until));
		}
	}

	/** Assignments that followed a fault, up to the next one. */
	public List<Deliveries.Takeover> takeovers(Deliveries deliveries, Fault fault) {
		int next = this.faults.indexOf(fault) + 1;
		long until = (next < this.faults.size()) ? this.faults.get(next).micros() : Long.MAX_VALUE;
		return deliveries.takeovers()
			.stream()
			.filter((takeover) -> takeover.micros() > fault.micros() && takeover.micros() < until)
			.toList();
	}

	/** What happened so far, in the order of time. */
	public List<Fault> faults() {
		return this.faults;
	}

	/** Longest time without a record that was handled to its end, after a fault. */
	private long stallMillis(Fault fault, long until) {
		long last = fault.micros();
		long longest = 0;
		List<Long> ends = lines().stream()
			.filter((line) -> line.event() == DiskJournal.Event.ENDED)
			.map(DiskJournal.Line::micros)
			.filter((micros) -> micros > fault.micros() && micros < until)
			.sorted()
			.toList();
		for (long end : ends) {
			longest = Math.max(longest, end - last);
			last = end;
		}
		return longest / 1000;
	}

	@Override
	public void close() {
		this.sender.shutdownNow();
		this.producer.close(Duration.ofSeconds(1));
		for (AutoCloseable worker : this.workers) {
			try {
				worker.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

	/**
	 * Something bad that was done.
	 *
	 * @param what what it was
	 * @param micros when
	 */
	public record Fault(String what, long micros) {

	}

	/**
	 * A worker in a JVM of its own.
	 *
	 * @param number in order of start, from 0
	 * @param journal its journal
	 * @param jvm its process
	 */
	public record WorkerProcess(int number, Path journal, ChildJvm jvm) {

		/** What the worker noted so far. */
		public List<DiskJournal.Line> lines() {
			return DiskJournal.read(this.journal, this.number);
		}

		/** Waits until the worker has brought a record to an end, from now on. */
		public WorkerProcess awaitEnd() {
			return awaitNext(DiskJournal.Event.ENDED, 1);
		}

		/** Waits until the worker notes so many events, from now on. */
		public WorkerProcess awaitNext(DiskJournal.Event event, int count) {
			long before = count(event);
			eventually().until(() -> count(event) >= before + count);
			return this;
		}

		private long count(DiskJournal.Event event) {
			return lines().stream().filter((line) -> line.event() == event).count();
		}

	}

	private record Sent(int partition, long offset) {

	}

}
