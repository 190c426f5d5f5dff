package io.queuestarter.handler;

import java.lang.reflect.Method;

import org.springframework.messaging.handler.annotation.support.MessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Makes handler methods whose result is the answer to the attempt.
 */
public final class AnsweringHandlerMethodFactory implements MessageHandlerMethodFactory {

	private final MessageHandlerMethodFactory delegate;

	/**
	 * Creates a factory.
	 * @param delegate makes methods that resolve their arguments
	 */
	public AnsweringHandlerMethodFactory(MessageHandlerMethodFactory delegate) {
		this.delegate = delegate;
	}

	@Override
	public InvocableHandlerMethod createInvocableHandlerMethod(Object bean, Method method) {
		return new AnsweringHandlerMethod(this.delegate.createInvocableHandlerMethod(bean, method),
				ResultKind.of(method));
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
