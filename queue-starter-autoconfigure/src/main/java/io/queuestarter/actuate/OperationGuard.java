package io.queuestarter.actuate;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.InvocationContext;
import org.springframework.boot.actuate.endpoint.OperationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvoker;
import org.springframework.boot.actuate.endpoint.invoke.OperationInvokerAdvisor;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameter;
import org.springframework.boot.actuate.endpoint.invoke.OperationParameters;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;

import io.queuestarter.QueueException;
import io.queuestarter.browse.InvalidParameterException;

/**
 * Refuses requests to our endpoints that name parameters which the operation does not
 * have: Spring Boot ignores them, so that a misspelt filter would mean everything. Makes
 * problems of what operations fail with, too, and leaves the envelope away that only the
 * web needs.
 */
public final class OperationGuard implements OperationInvokerAdvisor {

	private static final Set<String> ENDPOINTS = Set.of("queuedlq", "queuejobs");

	@Override
	public OperationInvoker apply(EndpointId endpoint, OperationType type, OperationParameters parameters,
			OperationInvoker invoker) {
		return ENDPOINTS.contains(endpoint.toLowerCaseString()) ? new Guarded(parameters.stream().toList(), invoker)
				: invoker;
	}

	private static final class Guarded implements OperationInvoker {

		private final List<String> known;

		private final List<String> allowed;

		private final OperationInvoker invoker;

		Guarded(List<OperationParameter> parameters, OperationInvoker invoker) {
			List<OperationParameter> given = parameters.stream()
				.filter((parameter) -> parameter.getType() != SecurityContext.class)
				.toList();
			this.known = given.stream().map(OperationParameter::getName).toList();
			this.allowed = given.stream()
				.filter((parameter) -> parameter.getAnnotation(Selector.class) == null)
				.map(OperationParameter::getName)
				.toList();
			this.invoker = invoker;
		}

		@Override
		public @Nullable Object invoke(InvocationContext context) {
			Problem problem = examine(context.getArguments());
			Object result = (problem != null) ? problem.response() : answer(context);
			boolean web = context.canResolve(WebServerNamespace.class);
			return (!web && result instanceof WebEndpointResponse<?> response) ? response.getBody() : result;
		}

		private @Nullable Object answer(InvocationContext context) {
			try {
				return this.invoker.invoke(context);
			}
			catch (InvalidParameterException ex) {
				return Problem.invalidParameter(ex.getParameter(), ex.getValue(), ex.getAllowed()).response();
			}
			catch (QueueException ex) {
				return Problem
					.of("queue/broker", "The broker does not answer as it should", 503, String.valueOf(ex.getMessage()),
							"Try again, or look at the broker and at the rights of this application.")
					.response();
			}
		}

		/** JMX names all parameters of an operation, with null for what is not given. */
		private @Nullable Problem examine(Map<String, ? extends @Nullable Object> arguments) {
			for (Map.Entry<String, ? extends @Nullable Object> argument : arguments.entrySet()) {
				if (argument.getValue() == null) {
					continue;
				}
				if (!this.known.contains(argument.getKey())) {
					return Problem.unknownParameter(argument.getKey(), this.allowed);
				}
				if (argument.getValue() instanceof Collection<?> values) {
					return Problem.invalidParameter(argument.getKey(), values.toString(), List.of("one value"));
				}
			}
			return null;
		}

	}

}
