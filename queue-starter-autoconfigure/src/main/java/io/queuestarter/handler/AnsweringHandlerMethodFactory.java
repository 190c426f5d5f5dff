package io.queuestarter.handler;

import java.lang.reflect.Method;

import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

import io.queuestarter.delivery.Answers;

/**
 * Makes handler methods whose result is the answer to the attempt.
 */
public final class AnsweringHandlerMethodFactory implements MessageHandlerMethodFactory {

	private final MessageHandlerMethodFactory delegate;

	private final Answers answers;

	/**
	 * Creates a factory.
	 * @param delegate makes methods that resolve their arguments
	 * @param answers who receives the answers
	 */
	public AnsweringHandlerMethodFactory(MessageHandlerMethodFactory delegate, Answers answers) {
		this.delegate = delegate;
		this.answers = answers;
	}

	@Override
	public InvocableHandlerMethod createInvocableHandlerMethod(Object bean, Method method) {
		return new AnsweringHandlerMethod(this.delegate.createInvocableHandlerMethod(bean, method),
				ResultKind.of(method), this.answers);
	}

	/**
	 * Checks that a method's result can be awaited.
	 * @param method the handler method
	 * @throws IllegalArgumentException if not; the message begins with a verb
	 */
	public static void check(Method method) {
		ResultKind.of(method);
	}

}
