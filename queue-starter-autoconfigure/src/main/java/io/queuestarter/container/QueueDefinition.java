package io.queuestarter.container;

import java.lang.reflect.Method;

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
	 * The method as error messages name it.
	 * @return class and method
	 */
	public String methodName() {
		return this.method.getDeclaringClass().getSimpleName() + "." + this.method.getName();
	}

}
