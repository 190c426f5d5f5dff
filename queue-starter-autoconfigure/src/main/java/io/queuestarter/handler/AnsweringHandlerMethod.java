package io.queuestarter.handler;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

import io.queuestarter.delivery.Answers;
import io.queuestarter.delivery.Attempt;

/**
 * Handler method whose result, not its return, is the answer to the attempt. Arguments
 * are resolved by the method it wraps. To the caller it returns nothing, so that no reply
 * is made of a result.
 */
final class AnsweringHandlerMethod extends InvocableHandlerMethod {

	private final InvocableHandlerMethod delegate;

	private final ResultKind kind;

	private final Answers answers;

	AnsweringHandlerMethod(InvocableHandlerMethod delegate, ResultKind kind, Answers answers) {
		super(delegate.getBean(), delegate.getMethod());
		this.delegate = delegate;
		this.kind = kind;
		this.answers = answers;
	}

	@Override
	public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArgs) throws Exception {
		Object result = this.delegate.invoke(message, providedArgs);
		Attempt attempt = attemptAmong(providedArgs);
		switch (this.kind) {
			case RETURN -> {
				// The return is the answer.
			}
			case ACKNOWLEDGMENT -> attempt.awaitAnswer();
			case STAGE, MONO -> {
				if (result == null) {
					throw new NullPointerException(getMethod() + " returned null instead of a result to wait for");
				}
				await(attempt, this.kind.toStage(result));
			}
		}
		return null;
	}

	private void await(Attempt attempt, CompletionStage<?> stage) {
		attempt.awaitAnswer();
		if (stage instanceof Future<?> future) {
			// What depends on the future is user code, which neither timer nor consumer
			// thread runs.
			attempt.onCancel(() -> ForkJoinPool.commonPool().execute(() -> future.cancel(true)));
		}
		stage.whenComplete((value, error) -> {
			if (error == null) {
				this.answers.handled(attempt);
			}
			else {
				Throwable cause = error.getCause();
				this.answers.failed(attempt, (error instanceof CompletionException && cause != null) ? cause : error);
			}
		});
	}

	private static Attempt attemptAmong(@Nullable Object[] arguments) {
		for (Object argument : arguments) {
			if (argument instanceof Attempt attempt) {
				return attempt;
			}
		}
		throw new IllegalStateException("Called without an attempt");
	}

}
