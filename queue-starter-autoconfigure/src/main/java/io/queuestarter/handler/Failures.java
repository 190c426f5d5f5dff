package io.queuestarter.handler;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.springframework.kafka.listener.ListenerExecutionFailedException;
import org.springframework.kafka.support.converter.ConversionException;
import org.springframework.messaging.MessageHandlingException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.invocation.MethodArgumentResolutionException;

/**
 * Tells what kind of failure an exception is.
 */
public final class Failures {

	/** How deep an exception is looked into; its causes may form a circle. */
	private static final int MAX_DEPTH = 20;

	private Failures() {
	}

	/**
	 * Takes off what Spring and futures have wrapped around an exception.
	 * @param error what the attempt ended with
	 * @return what the handler, a converter or a deserializer threw
	 */
	public static Throwable unwrap(Throwable error) {
		Throwable current = error;
		for (int depth = 0; depth < MAX_DEPTH; depth++) {
			Throwable cause = causeOf(current);
			if (cause == null || !isWrapper(current, cause)) {
				return current;
			}
			current = cause;
		}
		return current;
	}

	/**
	 * An exception and its causes.
	 * @param error the exception
	 * @return the exception and so many of its causes as are looked into, outermost first
	 */
	public static List<Throwable> chain(Throwable error) {
		List<Throwable> chain = new ArrayList<>();
		for (Throwable current = error; current != null && chain.size() < MAX_DEPTH; current = causeOf(current)) {
			chain.add(current);
		}
		return chain;
	}

	/** Cause of an exception, whatever its class makes of the question. */
	private static @Nullable Throwable causeOf(Throwable error) {
		try {
			return error.getCause();
		}
		catch (Throwable ex) {
			return null;
		}
	}

	private static boolean isWrapper(Throwable error, Throwable cause) {
		return error instanceof ListenerExecutionFailedException || error instanceof CompletionException
				|| error instanceof ExecutionException
				|| (error instanceof IllegalStateException && cause instanceof Error);
	}

	/**
	 * Whether an exception tells that key or value were not decodable.
	 * @param error an unwrapped exception
	 * @return {@code true} if no attempt can succeed
	 */
	public static boolean isUndecodable(Throwable error) {
		return error instanceof UndecodableRecordException;
	}

	/**
	 * Whether a deserializer failed for a reason outside of the record: a schema registry
	 * that does not answer, for instance.
	 * @param error an exception that tells that key or value were not decodable
	 * @return {@code true} if another attempt may succeed
	 */
	public static boolean isTransient(Throwable error) {
		Throwable current = error;
		for (int depth = 0; current != null && depth < MAX_DEPTH; depth++) {
			if (current instanceof IOException || current instanceof RetriableException) {
				return true;
			}
			current = causeOf(current);
		}
		return false;
	}

	/**
	 * Whether an exception tells that the method could not be called with the record: its
	 * payload did not convert or validate, or a required header is missing.
	 * @param error an unwrapped exception of an attempt whose handler was not called
	 * @return {@code true} if no attempt can succeed
	 */
	public static boolean isUnprocessable(Throwable error) {
		return error instanceof ConversionException || error instanceof MessageConversionException
				|| error instanceof MethodArgumentResolutionException || error instanceof MessageHandlingException;
	}

	/**
	 * Whether the process ran out of memory, at any depth of an exception.
	 * @param error what the attempt ended with
	 * @return {@code true} if no conclusion about the record may be drawn
	 */
	public static boolean isOutOfMemory(Throwable error) {
		Throwable current = error;
		for (int depth = 0; current != null && depth < MAX_DEPTH; depth++) {
			if (current instanceof OutOfMemoryError) {
				return true;
			}
			current = causeOf(current);
		}
		return false;
	}

}
