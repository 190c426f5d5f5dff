package io.queuestarter.container;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between Spring Kafka's container and the Kafka consumer. What the container asks
 * of the consumer passes through here, so this is where a queue hooks in before and after
 * each poll, in rebalances and at the end. <em>Consumer thread only</em>, except the
 * consumer's {@code wakeup}.
 */
/*
 * A dynamic proxy and not a class, since the Consumer interface gains methods in every
 * minor version of Kafka. The reflective call costs per poll, not per record.
 *
 * The container pauses and resumes for its own reasons (an operator's pause). They are
 * kept apart from the queue's: the container sees only what it paused itself, and a
 * partition is fetched when neither wants it paused.
 *
 * Records are admitted when the container hands them to the listener, not when poll
 * returns them, because a container that is stopped in between drops them. Should it drop
 * them and poll on, the positions are set back.
 */
final class ConsumerGate implements InvocationHandler {

	private static final Logger LOGGER = LoggerFactory.getLogger(ConsumerGate.class);

	private final Consumer<byte[], byte[]> consumer;

	private final QueueConsumer queue;

	/** Paused by the container. */
	private final Set<TopicPartition> pausedByContainer = new HashSet<>();

	/** Revoked or lost, and not assigned since. */
	private final Set<TopicPartition> givenUp = new HashSet<>();

	/** Consumer thread only: polled, and not yet taken over by the queue. */
	private @Nullable ConsumerRecords<byte[], byte[]> handedOver;

	/**
	 * Told what a poll failed with; the container does not tell of all that it repeats.
	 */
	private final java.util.function.Consumer<Exception> failures;

	ConsumerGate(Consumer<byte[], byte[]> consumer, QueueConsumer queue,
			java.util.function.Consumer<Exception> failures) {
		this.consumer = consumer;
		this.queue = queue;
		this.failures = failures;
	}

	@SuppressWarnings("unchecked")
	Consumer<byte[], byte[]> proxy() {
		return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { Consumer.class, GatedConsumer.class }, this);
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
		Object first = (args != null && args.length > 0) ? args[0] : null;
		switch (method.getName()) {
			case "gate" -> {
				return this;
			}
			case "equals" -> {
				return proxy == first;
			}
			case "hashCode" -> {
				return System.identityHashCode(proxy);
			}
			case "poll" -> {
				return pollOrTell((first instanceof Duration timeout) ? timeout : Duration.ZERO);
			}
			case "pause" -> {
				pause(partitionsIn(first));
				return null;
			}
			case "resume" -> {
				resume(partitionsIn(first));
				return null;
			}
			case "paused" -> {
				return Set.copyOf(this.pausedByContainer);
			}
			case "commitSync", "commitAsync" -> throw new IllegalStateException("Only the ledger of queue '"
					+ this.queue.id() + "' commits; use ack() of QueueContext to settle a record");
			case "wakeup" -> this.queue.signal().raise();
			case "unsubscribe" -> leave();
			case "close" -> {
				leave();
				return close(method, args);
			}
			default -> {
				// Passed on as it is.
			}
		}
		Object result = pass(method, args);
		if (method.getName().startsWith("seek")) {
			this.queue.restart(partitionsIn(first));
		}
		return result;
	}

	/** The consumer must be closed whatever happens before, or its sockets leak. */
	private void leave() {
		boolean interrupted = Thread.interrupted();
		try {
			this.queue.leave();
		}
		catch (RuntimeException ex) {
			LOGGER.error("Queue '{}' could not give up its partitions in good order; records settled since the last "
					+ "commit run again", this.queue.id(), ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private @Nullable Object close(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		try {
			return pass(method, args);
		}
		finally {
			this.queue.closed();
		}
	}

	private @Nullable Object pass(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		try {
			return method.invoke(this.consumer, gated(args));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	/** Puts the queue's rebalance listener in front of the container's. */
	private @Nullable Object @Nullable [] gated(@Nullable Object @Nullable [] args) {
		if (args == null) {
			return null;
		}
		@Nullable Object[] gated = args.clone();
		for (int i = 0; i < gated.length; i++) {
			if (gated[i] instanceof ConsumerRebalanceListener listener) {
				gated[i] = new GateRebalanceListener(listener);
			}
		}
		return gated;
	}

	private ConsumerRecords<byte[], byte[]> pollOrTell(Duration timeout) {
		try {
			return poll(timeout);
		}
		catch (WakeupException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			this.failures.accept(ex);
			throw ex;
		}
	}

	private ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
		setBackDropped();
		this.queue.proceed();
		this.queue.awaitRoom();
		applyBounds();
		long slice = this.queue.pollNanos(timeout.toNanos());
		ConsumerRecords<byte[], byte[]> records;
		if (this.queue.intake().isAllPaused()) {
			records = owned(this.consumer.poll(Duration.ZERO));
			if (records.isEmpty()) {
				this.queue.signal().await(slice);
			}
		}
		else {
			records = owned(this.consumer.poll(Duration.ofNanos(slice)));
		}
		this.queue.polled();
		if (records.isEmpty()) {
			this.queue.intake().reached(records.nextOffsets());
		}
		else {
			this.handedOver = records;
		}
		return records;
	}

	/**
	 * With the consumer protocol, Kafka's client takes lost partitions from the consumer
	 * only after it has told so, on a thread of its own. Until then polls may return
	 * records of them, which their next owner fetches again.
	 */
	private ConsumerRecords<byte[], byte[]> owned(ConsumerRecords<byte[], byte[]> records) {
		if (Collections.disjoint(records.partitions(), this.givenUp)) {
			return records;
		}
		Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> owned = new HashMap<>();
		for (TopicPartition partition : records.partitions()) {
			if (!this.givenUp.contains(partition)) {
				owned.put(partition, records.records(partition));
			}
		}
		Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>(records.nextOffsets());
		positions.keySet().removeAll(this.givenUp);
		return new ConsumerRecords<>(owned, positions);
	}

	/** Takes the records that the container hands to the listener. */
	void accept(ConsumerRecords<byte[], byte[]> records) {
		this.queue.accept(records);
		this.handedOver = null;
		this.queue.intake().proceed();
	}

	private void setBackDropped() {
		ConsumerRecords<byte[], byte[]> dropped = this.handedOver;
		if (dropped == null) {
			return;
		}
		this.handedOver = null;
		Set<TopicPartition> assigned = this.consumer.assignment();
		for (TopicPartition partition : dropped.partitions()) {
			if (assigned.contains(partition)) {
				long offset = dropped.records(partition).get(0).offset();
				LOGGER.warn("{} polled records of '{}' never reached the queue; fetching again from {}",
						dropped.records(partition).size(), partition, offset);
				this.consumer.seek(partition, offset);
			}
		}
	}

	/**
	 * Reads what is paused from the consumer, so that no failed call is forgotten. With
	 * the consumer protocol a partition may be taken away between a look at the
	 * assignment and a call, on a thread of Kafka's client.
	 */
	private void applyBounds() {
		Set<TopicPartition> paused = this.consumer.paused();
		Set<TopicPartition> wanted = this.queue.paused();
		wanted.addAll(this.pausedByContainer);
		if (wanted.isEmpty() && paused.isEmpty()) {
			return;
		}
		wanted.retainAll(this.consumer.assignment());
		Set<TopicPartition> resume = new HashSet<>(paused);
		resume.removeAll(wanted);
		wanted.removeAll(paused);
		try {
			this.consumer.pause(wanted);
			this.consumer.resume(resume);
		}
		catch (IllegalStateException ex) {
			LOGGER.debug("Queue '{}' pauses and resumes again before its next poll", this.queue.id(), ex);
		}
	}

	/** Carried out at once, since the container may look, and before the next poll. */
	private void pause(Collection<TopicPartition> partitions) {
		this.pausedByContainer.addAll(partitions);
		applyBounds();
	}

	private void resume(Collection<TopicPartition> partitions) {
		this.pausedByContainer.removeAll(partitions);
		applyBounds();
	}

	private static Collection<TopicPartition> partitionsIn(@Nullable Object argument) {
		if (argument instanceof TopicPartition partition) {
			return List.of(partition);
		}
		return (argument instanceof Collection<?> partitions)
				? partitions.stream().map(TopicPartition.class::cast).toList() : List.of();
	}

	/** Called inside the consumer's poll, or its close. */
	private final class GateRebalanceListener implements ConsumerRebalanceListener {

		private final ConsumerRebalanceListener container;

		GateRebalanceListener(ConsumerRebalanceListener container) {
			this.container = container;
		}

		@Override
		public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
			ConsumerGate.this.givenUp.removeAll(partitions);
			ConsumerGate.this.queue.assigned(partitions);
			this.container.onPartitionsAssigned(partitions);
		}

		@Override
		public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
			ConsumerGate.this.queue.revoked(partitions);
			forget(partitions);
			this.container.onPartitionsRevoked(partitions);
		}

		@Override
		public void onPartitionsLost(Collection<TopicPartition> partitions) {
			ConsumerGate.this.queue.lost(partitions);
			forget(partitions);
			this.container.onPartitionsLost(partitions);
		}

		private void forget(Collection<TopicPartition> partitions) {
			ConsumerGate.this.pausedByContainer.removeAll(partitions);
			ConsumerGate.this.givenUp.addAll(partitions);
		}

	}

}
