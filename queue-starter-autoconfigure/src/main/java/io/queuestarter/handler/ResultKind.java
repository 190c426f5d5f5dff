package io.queuestarter.handler;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.springframework.core.KotlinDetector;
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
		if (Future.class.isAssignableFrom(type) || isPublisher(type)) {
			throw new IllegalArgumentException("returns " + type.getName()
					+ ", whose completion is never seen; return void, a CompletionStage or a Mono");
		}
		return Arrays.asList(method.getParameterTypes()).contains(Acknowledgment.class) ? ACKNOWLEDGMENT : RETURN;
	}

	CompletionStage<?> toStage(Object result) {
		return (this == MONO) ? Reactor.toFuture(result) : (CompletionStage<?>) result;
	}

	private static boolean isMono(Class<?> type) {
		return REACTOR && Reactor.isMono(type);
	}

	private static boolean isPublisher(Class<?> type) {
		return ClassUtils.getAllInterfacesForClassAsSet(type)
			.stream()
			.anyMatch((candidate) -> candidate.getName().equals("org.reactivestreams.Publisher"));
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
