package io.queuestarter.container;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

import org.springframework.messaging.handler.annotation.Header;

import io.queuestarter.QueueListener;

/**
 * A method that was found to carry {@link QueueListener}.
 *
 * @param id id of the queue, resolved
 * @param annotation the annotation, not resolved
 * @param method the method of the bean's own class
 */
public record QueueDefinition(String id, QueueListener annotation, Method method) {

	/**
	 * Whether the method takes several records at one time: it has a parameter of type
	 * {@link List} that is not made of headers.
	 * @return {@code false} if it takes one record
	 */
	public boolean takesBatch() {
		return Arrays.stream(this.method.getParameters())
			.anyMatch((parameter) -> List.class.equals(parameter.getType())
					&& !parameter.isAnnotationPresent(Header.class));
	}

	/**
	 * The method as error messages name it.
	 * @return class and method
	 */
	public String methodName() {
		return this.method.getDeclaringClass().getSimpleName() + "." + this.method.getName();
	}

}
