package io.queuestarter.handler;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

import io.queuestarter.delivery.HandlerCall;

/**
 * Handler method whose result, not its return, is the answer to the attempt. Arguments
 * are resolved by the method it wraps. To the caller it returns nothing, so that no reply
 * is made of a result.
 */
final class AnsweringHandlerMethod extends InvocableHandlerMethod {

	private final InvocableHandlerMethod delegate;

	private final ResultKind kind;

	private final boolean acknowledging;

	AnsweringHandlerMethod(InvocableHandlerMethod delegate, ResultKind kind) {
		super(delegate.getBean(), delegate.getMethod());
		this.delegate = delegate;
		this.kind = kind;
		this.acknowledging = ResultKind.takesAcknowledgment(delegate.getMethod());
	}

	@Override
	public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArgs) throws Exception {
		HandlerCall call = callAmong(providedArgs);
		Object result = invoke(call, message, providedArgs);
		ResultKind given = this.kind.given(result);
		switch (given) {
			case RETURN -> {
				// The return is the answer.
			}
			case ACKNOWLEDGMENT -> call.awaitAnswer();
			case STAGE, MONO -> {
				if (result == null) {
					throw new NullPointerException(getMethod() + " returned null instead of a result to wait for");
				}
				await(call, given.toStage(result));
			}
		}
		return null;
	}

	private @Nullable Object invoke(HandlerCall call, Message<?> message, @Nullable Object[] providedArgs)
			throws Exception {
		try {
			Object result = this.delegate.invoke(message, providedArgs);
			call.called();
			return result;
		}
		catch (Exception ex) {
			if (!isOfArguments(ex)) {
				call.called();
			}
			throw ex;
		}
	}

	/**
	 * Whether an exception comes from the resolution of the arguments. Types do not tell,
	 * since the method itself may throw the same ones; where it was created does.
	 */
	private static boolean isOfArguments(Exception error) {
		boolean arguments = false;
		for (StackTraceElement frame : error.getStackTrace()) {
			if (frame.getClassName().equals(AnsweringHandlerMethod.class.getName())) {
				return arguments;
			}
			if (frame.getClassName().endsWith(InvocableHandlerMethod.class.getSimpleName())) {
				arguments = frame.getMethodName().equals("getMethodArgumentValues")
						|| (arguments && frame.getMethodName().equals("invoke"));
			}
		}
		return false;
	}

	private void await(HandlerCall call, CompletionStage<?> stage) {
		call.awaitAnswer();
		if (stage instanceof Future<?> future) {
			// What depends on the future is user code, which neither timer nor consumer
			// thread runs.
			call.onCancel(() -> ForkJoinPool.commonPool().execute(() -> future.cancel(true)));
		}
		// On a thread of the user's, whose log context it has again afterwards.
		stage.whenComplete((value, error) -> call.run(() -> {
			if (error != null) {
				call.failed(error);
			}
			else if (!this.acknowledging) {
				call.handled();
			}
		}));
	}

	private static HandlerCall callAmong(@Nullable Object[] arguments) {
		for (Object argument : arguments) {
			if (argument instanceof HandlerCall call) {
				return call;
			}
		}
		throw new IllegalStateException("Called without an attempt");
	}

}
