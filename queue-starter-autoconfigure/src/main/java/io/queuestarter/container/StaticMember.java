package io.queuestarter.container;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.function.Supplier;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.jspecify.annotations.Nullable;

/**
 * A consumer that has a {@code group.instance.id}, of which a group has one at a time.
 * <em>Consumer thread only</em>, except the consumer's {@code wakeup}.
 */
/*
 * With the classic protocol a newcomer takes the place of the member that has the id.
 * That one is fenced: its queue stops, and does not take the place back.
 *
 * With the consumer protocol the group refuses a newcomer while a member has the id,
 * which may also be a process that was killed and whose session has not ended. A refused
 * Kafka consumer never joins again, so it is replaced until one is admitted.
 */
final class StaticMember implements InvocationHandler {

	private static final Duration PAUSE = Duration.ofSeconds(5);

	private final StaticMembers members;

	private final String instanceId;

	private final Supplier<Consumer<byte[], byte[]>> consumers;

	private final ConsumerSignal signal = new ConsumerSignal();

	/** Volatile for the sake of wake-ups; changed by the consumer thread. */
	private volatile Consumer<byte[], byte[]> consumer;

	private @Nullable Method subscribe;

	private @Nullable Object @Nullable [] subscription;

	private boolean fenced;

	private boolean refused;

	private long refusedNanos;

	StaticMember(StaticMembers members, String instanceId, Supplier<Consumer<byte[], byte[]>> consumers) {
		this.members = members;
		this.instanceId = instanceId;
		this.consumers = consumers;
		this.consumer = consumers.get();
	}

	@SuppressWarnings("unchecked")
	Consumer<byte[], byte[]> proxy() {
		return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { Consumer.class }, this);
	}

	@Override
	public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
		switch (method.getName()) {
			case "poll" -> {
				return poll((args != null && args[0] instanceof Duration timeout) ? timeout : Duration.ZERO);
			}
			case "subscribe" -> {
				this.subscribe = method;
				this.subscription = observed(args);
				return pass(method, this.subscription);
			}
			case "wakeup" -> this.signal.raise();
			case "close" -> this.members.noLongerRefused(this.instanceId);
			default -> {
				// Passed on as it is.
			}
		}
		return pass(method, args);
	}

	private @Nullable Object pass(Method method, @Nullable Object @Nullable [] args) throws Throwable {
		try {
			return method.invoke(this.consumer, args);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	private ConsumerRecords<byte[], byte[]> poll(Duration timeout) throws Throwable {
		if (this.refused && System.nanoTime() - this.refusedNanos >= PAUSE.toNanos()) {
			replace();
		}
		if (this.fenced || this.refused) {
			this.signal.await(timeout.toNanos());
			return ConsumerRecords.empty();
		}
		try {
			return this.consumer.poll(timeout);
		}
		catch (FencedInstanceIdException ex) {
			this.fenced = true;
			this.members.fenced(this.instanceId, ex);
		}
		catch (UnreleasedInstanceIdException ex) {
			this.refused = true;
			this.refusedNanos = System.nanoTime();
			this.members.refused(this.instanceId, ex);
		}
		return ConsumerRecords.empty();
	}

	private void replace() throws Throwable {
		Consumer<byte[], byte[]> next = this.consumers.get();
		this.consumer.close();
		this.consumer = next;
		this.refused = false;
		if (this.subscribe != null) {
			pass(this.subscribe, this.subscription);
		}
	}

	/** Tells the queue of the first assignment, be it empty. */
	private @Nullable Object @Nullable [] observed(@Nullable Object @Nullable [] args) {
		if (args == null) {
			return null;
		}
		@Nullable Object[] observed = args.clone();
		for (int i = 0; i < observed.length; i++) {
			if (observed[i] instanceof ConsumerRebalanceListener listener) {
				observed[i] = new JoinListener(listener);
			}
		}
		return observed;
	}

	private final class JoinListener implements ConsumerRebalanceListener {

		private final ConsumerRebalanceListener delegate;

		JoinListener(ConsumerRebalanceListener delegate) {
			this.delegate = delegate;
		}

		@Override
		public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
			StaticMember.this.members.noLongerRefused(StaticMember.this.instanceId);
			this.delegate.onPartitionsAssigned(partitions);
		}

		@Override
		public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
			this.delegate.onPartitionsRevoked(partitions);
		}

		@Override
		public void onPartitionsLost(Collection<TopicPartition> partitions) {
			this.delegate.onPartitionsLost(partitions);
		}

	}

}
