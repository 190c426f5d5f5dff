package io.queuestarter.handler;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.kafka.support.Acknowledgment;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

/**
 * What settles the record of a handler method.
 */
enum ResultKind {

	/** The method's return. */
	RETURN,

	/** A call of the {@link Acknowledgment} parameter. */
	ACKNOWLEDGMENT,

	/** Completion of the {@link CompletionStage} returned. */
	STAGE,

	/**
	 * Completion of the {@code Mono} returned, or of a Kotlin {@code suspend} function.
	 */
	MONO;

	private static final boolean REACTOR = ClassUtils.isPresent("reactor.core.publisher.Mono",
			ResultKind.class.getClassLoader());

	static ResultKind of(Method method) {
		Class<?> type = method.getReturnType();
		if (KotlinDetector.isSuspendingFunction(method) || isMono(type)) {
			return MONO;
		}
		if (CompletionStage.class.isAssignableFrom(type)) {
			return STAGE;
		}
		if (Future.class.isAssignableFrom(type)
				|| ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
			throw new IllegalArgumentException("returns " + type.getName()
					+ ", whose completion is never seen; return void, a CompletionStage or a Mono");
		}
		return takesAcknowledgment(method) ? ACKNOWLEDGMENT : RETURN;
	}

	static boolean takesAcknowledgment(Method method) {
		return Arrays.asList(method.getParameterTypes()).contains(Acknowledgment.class);
	}

	/** What settles the record, now that the result is known of a less telling type. */
	ResultKind given(@Nullable Object result) {
		if (this != RETURN || result == null) {
			return this;
		}
		if (isMono(result.getClass())) {
			return MONO;
		}
		return (result instanceof CompletionStage) ? STAGE : RETURN;
	}

	CompletionStage<?> toStage(Object result) {
		return (this == MONO) ? Reactor.toFuture(result) : (CompletionStage<?>) result;
	}

	private static boolean isMono(Class<?> type) {
		return REACTOR && Reactor.isMono(type);
	}

	/** Touched only if Reactor is present. */
	private static final class Reactor {

		static boolean isMono(Class<?> type) {
			return Mono.class.isAssignableFrom(type);
		}

		static CompletionStage<?> toFuture(Object result) {
			return ((Mono<?>) result).toFuture();
		}

	}

}
