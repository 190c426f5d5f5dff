package io.queuestarter.handler;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.log.LogAccessor;
import org.springframework.kafka.support.KafkaUtils;
import org.springframework.kafka.support.serializer.SerializationUtils;

/**
 * Decodes keys or values on worker threads. Kafka asks no deserializer to be thread-safe,
 * so no instance is ever used by two threads at one time: there is either one instance
 * for each thread that decodes at the moment, or one instance under a lock.
 * <em>Thread-safe.</em>
 */
public final class PartDecoder {

	private static final LogAccessor LOGGER = new LogAccessor(PartDecoder.class);

	private static final String ARRAY_TOO_LARGE = "Requested array size exceeds VM limit";

	private final String part;

	private final String exceptionHeader;

	private final @Nullable Supplier<Deserializer<?>> supplier;

	/**
	 * Instances that nobody uses. As many as can decode at one time stand at the front,
	 * where it costs no more than a swap to take one and to put it back.
	 */
	private final AtomicReferenceArray<@Nullable Deserializer<?>> front = new AtomicReferenceArray<>(
			Runtime.getRuntime().availableProcessors());

	private final ConcurrentLinkedQueue<Deserializer<?>> idle = new ConcurrentLinkedQueue<>();

	private final @Nullable Deserializer<?> single;

	private final ReentrantLock lock = new ReentrantLock();

	private PartDecoder(String part, @Nullable Supplier<Deserializer<?>> supplier, @Nullable Deserializer<?> single) {
		this.part = part;
		this.exceptionHeader = part.equals("key") ? KafkaUtils.KEY_DESERIALIZER_EXCEPTION_HEADER
				: KafkaUtils.VALUE_DESERIALIZER_EXCEPTION_HEADER;
		this.supplier = supplier;
		this.single = single;
	}

	/**
	 * Makes a decoder that creates instances as threads need them.
	 * @param part {@code key} or {@code value}
	 * @param supplier makes a configured instance
	 * @return the decoder
	 */
	public static PartDecoder pooled(String part, Supplier<Deserializer<?>> supplier) {
		PartDecoder decoder = new PartDecoder(part, supplier, null);
		decoder.idle.add(supplier.get());
		return decoder;
	}

	/**
	 * Makes a decoder of one instance, which one thread after the other uses.
	 * @param part {@code key} or {@code value}
	 * @param deserializer the instance
	 * @return the decoder
	 */
	public static PartDecoder single(String part, Deserializer<?> deserializer) {
		return new PartDecoder(part, null, deserializer);
	}

	/**
	 * Decodes a key or a value.
	 * @param slot slot of the attempt that it is for: a good guess where an instance is
	 */
	@Nullable Object decode(String topic, Headers headers, byte @Nullable [] data, int slot) {
		if (this.single != null) {
			this.lock.lock();
			try {
				return decode(this.single, topic, headers, data);
			}
			finally {
				this.lock.unlock();
			}
		}
		int place = slot % this.front.length();
		Deserializer<?> deserializer = this.front.getAndSet(place, null);
		if (deserializer == null) {
			deserializer = this.idle.poll();
		}
		if (deserializer == null && this.supplier != null) {
			deserializer = this.supplier.get();
		}
		if (deserializer == null) {
			throw new IllegalStateException("No deserializer for the " + this.part);
		}
		try {
			return decode(deserializer, topic, headers, data);
		}
		finally {
			if (!this.front.compareAndSet(place, null, deserializer)) {
				this.idle.add(deserializer);
			}
		}
	}

	private @Nullable Object decode(Deserializer<?> deserializer, String topic, Headers headers,
			byte @Nullable [] data) {
		Header before = headers.lastHeader(this.exceptionHeader);
		Object decoded;
		try {
			decoded = deserializer.deserialize(topic, headers, data);
		}
		catch (Exception ex) {
			throw new UndecodableRecordException(this.part, deserializer.getClass().getName(), ex);
		}
		catch (OutOfMemoryError ex) {
			// A corrupt length asks for an array of any size: the record's fault, not
			// memory's.
			if (String.valueOf(ex.getMessage()).startsWith(ARRAY_TOO_LARGE)) {
				throw new UndecodableRecordException(this.part, deserializer.getClass().getName(),
						new IllegalArgumentException(ARRAY_TOO_LARGE));
			}
			throw ex;
		}
		// An ErrorHandlingDeserializer answers null and leaves its exception in a header.
		Header after = headers.lastHeader(this.exceptionHeader);
		if (decoded == null && after != null && after != before) {
			Throwable cause = SerializationUtils.byteArrayToDeserializationException(LOGGER, after);
			throw new UndecodableRecordException(this.part, deserializer.getClass().getName(), cause);
		}
		// A handler that takes bytes may write to them.
		return (decoded == data && data != null) ? data.clone() : decoded;
	}

}
