package io.queuestarter.testkit;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends records at a steady rate, to partitions in turn, until it is stopped. Every one
 * arrives in the end, and once.
 */
public final class Load implements AutoCloseable {

	/** Value of records that handlers should refuse. */
	public static final String POISON = "poison";

	private static final int TICKS_PER_SECOND = 100;

	private static final int POISON_EVERY = 97;

	private final KafkaProducer<byte[], byte[]> producer;

	private final String topic;

	private final int partitions;

	private final int perTick;

	private final boolean poisoned;

	private final LinkedBlockingQueue<Future<RecordMetadata>> sends = new LinkedBlockingQueue<>();

	private final Thread thread;

	private volatile boolean stopped;

	private Load(String bootstrap, String topic, int partitions, int perSecond, boolean poisoned) {
		this.producer = new KafkaProducer<>(
				Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
						600_000, ProducerConfig.MAX_BLOCK_MS_CONFIG, 600_000),
				new ByteArraySerializer(), new ByteArraySerializer());
		this.topic = topic;
		this.partitions = partitions;
		this.perTick = perSecond / TICKS_PER_SECOND;
		this.poisoned = poisoned;
		this.thread = new Thread(this::run, "load-" + topic);
		this.thread.start();
	}

	/** Begins to send good records. */
	public static Load of(String bootstrap, String topic, int partitions, int perSecond) {
		return new Load(bootstrap, topic, partitions, perSecond, false);
	}

	/** Begins to send good records and, now and then, one that is {@link #POISON}. */
	public static Load poisoned(String bootstrap, String topic, int partitions, int perSecond) {
		return new Load(bootstrap, topic, partitions, perSecond, true);
	}

	private void run() {
		int number = 0;
		while (!this.stopped) {
			for (int i = 0; i < this.perTick; i++) {
				String value = (this.poisoned && number % POISON_EVERY == POISON_EVERY / 2) ? POISON
						: Integer.toString(number);
				this.sends.add(this.producer.send(new ProducerRecord<>(this.topic, number % this.partitions, null,
						value.getBytes(StandardCharsets.UTF_8))));
				number++;
			}
			LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1) / TICKS_PER_SECOND);
		}
	}

	/** Stops, and answers how many records were sent once all have arrived. */
	public int stop() {
		this.stopped = true;
		try {
			this.thread.join(TimeUnit.MINUTES.toMillis(2));
			for (Future<RecordMetadata> send : this.sends) {
				send.get(2, TimeUnit.MINUTES);
			}
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			throw new IllegalStateException(ex);
		}
		return this.sends.size();
	}

	/** Stops, and gives up what has not arrived. */
	@Override
	public void close() {
		this.stopped = true;
		this.producer.close(Duration.ZERO);
	}

}
