package io.queuestarter.testkit;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.apache.kafka.clients.consumer.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sees, and may change, what is called on a Kafka consumer, below everything of the
 * queue.
 */
@FunctionalInterface
public interface ConsumerTap {

	/**
	 * Handles a call.
	 * @param call the call; its {@code proceed} passes it on
	 * @return what the call returns
	 * @throws Throwable what the call throws
	 */
	@Nullable Object on(Call call) throws Throwable;

	/** Puts a tap on a consumer. */
	@SuppressWarnings("unchecked")
	static <K, V> Consumer<K, V> tap(Consumer<K, V> consumer, ConsumerTap tap) {
		return (Consumer<K, V>) Proxy.newProxyInstance(ConsumerTap.class.getClassLoader(),
				new Class<?>[] { Consumer.class },
				(proxy, method, args) -> tap.on(new Call(consumer, method, (args != null) ? args : new Object[0])));
	}

	/**
	 * One call of a method of a consumer.
	 *
	 * @param consumer the consumer behind the tap
	 * @param method the method
	 * @param args its arguments, which may be replaced
	 */
	record Call(Consumer<?, ?> consumer, Method method, Object[] args) {

		/** Name of the method. */
		public String name() {
			return this.method.getName();
		}

		/** First argument of a type, or null. */
		public <T> @Nullable T argument(Class<T> type) {
			for (Object argument : this.args) {
				if (type.isInstance(argument)) {
					return type.cast(argument);
				}
			}
			return null;
		}

		/** Replaces the arguments of a type. */
		public <T> void replace(Class<T> type, T replacement) {
			for (int i = 0; i < this.args.length; i++) {
				if (type.isInstance(this.args[i])) {
					this.args[i] = replacement;
				}
			}
		}

		/** Passes the call on. */
		public @Nullable Object proceed() throws Throwable {
			try {
				return this.method.invoke(this.consumer, this.args);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

	}

}
