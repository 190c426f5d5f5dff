package io.queuestarter.container;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

import org.apache.kafka.clients.consumer.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.KafkaListenerAnnotationBeanPostProcessor.AnnotationEnhancer;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.ValueConstants;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;
import org.springframework.util.StringUtils;

import io.queuestarter.QueueConfigurationException;
import io.queuestarter.QueueContext;
import io.queuestarter.QueueListener;
import io.queuestarter.handler.AnsweringHandlerMethodFactory;

/**
 * Collects the {@link QueueListener} methods as Spring Kafka finds them, gives each an
 * id, and refuses those that cannot work. <em>Thread-safe.</em>
 */
public final class QueueDefinitions implements AnnotationEnhancer {

	private final Map<String, QueueDefinition> definitions = new ConcurrentHashMap<>();

	private final Map<String, LaneHandler> laneHandlers = new ConcurrentHashMap<>();

	private final UnaryOperator<String> resolver;

	/**
	 * Creates an empty collection.
	 * @param resolver resolves placeholders and expressions
	 */
	public QueueDefinitions(UnaryOperator<String> resolver) {
		this.resolver = resolver;
	}

	@Override
	public Map<String, Object> apply(Map<String, Object> attributes, AnnotatedElement element) {
		QueueListener annotation = AnnotatedElementUtils.findMergedAnnotation(element, QueueListener.class);
		if (annotation == null || !(element instanceof Method method)) {
			return attributes;
		}
		if (LaneHandler.isAny(annotation)) {
			attributes.put("id", addLaneHandler(annotation, method));
			return attributes;
		}
		String id = idOf(annotation, method);
		QueueDefinition definition = new QueueDefinition(id, annotation, method);
		check(definition);
		QueueDefinition other = this.definitions.putIfAbsent(id, definition);
		if (other != null && !other.method().equals(method)) {
			throw new QueueConfigurationException("Queue id '" + id + "' is used twice: by " + other.methodName()
					+ " and by " + definition.methodName() + ".", "Give each @QueueListener an 'id' of its own.");
		}
		attributes.put("id", id);
		return attributes;
	}

	private String addLaneHandler(QueueListener annotation, Method method) {
		String queue = this.resolver.apply(annotation.queue());
		String lane = this.resolver.apply(annotation.lane());
		QueueDefinition definition = new QueueDefinition(LaneHandler.idOf(queue, lane), annotation, method);
		if (!StringUtils.hasText(queue) || !StringUtils.hasText(lane)) {
			throw new QueueConfigurationException(
					definition.methodName() + " has 'queue' or 'lane' of @QueueListener, and not both.",
					"'queue' names the queue of another method, 'lane' the lane of it that this method handles.");
		}
		refuseFurtherAttributes(definition);
		check(definition);
		LaneHandler other = this.laneHandlers.putIfAbsent(definition.id(), new LaneHandler(queue, lane, definition));
		if (other != null && !other.definition().method().equals(method)) {
			throw new QueueConfigurationException("Lane '" + lane + "' of queue '" + queue + "' is handled twice: by "
					+ other.methodName() + " and by " + definition.methodName() + ".", "Keep one of them.");
		}
		return definition.id();
	}

	private static void refuseFurtherAttributes(QueueDefinition definition) {
		AnnotationUtils.getAnnotationAttributes(definition.annotation()).forEach((name, value) -> {
			Object none = AnnotationUtils.getDefaultValue(QueueListener.class, name);
			if (!name.equals("queue") && !name.equals("lane") && !ObjectUtils.nullSafeEquals(value, none)) {
				throw new QueueConfigurationException(
						definition.methodName() + " handles a lane and sets '" + name
								+ "' of @QueueListener, which is for the queue as a whole.",
						"Remove it; what a lane has of its own is set under kafka-queue.listeners.<id>.lanes.named.");
			}
		});
	}

	private String idOf(QueueListener annotation, Method method) {
		String id = this.resolver.apply(annotation.id());
		return StringUtils.hasText(id) ? id
				: ClassUtils.getShortNameAsProperty(method.getDeclaringClass()) + "-" + method.getName();
	}

	private void check(QueueDefinition definition) {
		Method method = definition.method();
		String name = definition.methodName();
		if (method.isAnnotationPresent(KafkaListener.class)) {
			throw new QueueConfigurationException(name + " carries @QueueListener and @KafkaListener.", "Keep one.");
		}
		if (AnnotatedElementUtils.hasAnnotation(method, RetryableTopic.class)) {
			throw new QueueConfigurationException(name + " carries @QueueListener and @RetryableTopic.",
					"Remove @RetryableTopic; 'maxAttempts' and 'dlq' of @QueueListener do its work.");
		}
		if (!definition.takesBatch() && Arrays.stream(method.getParameterTypes()).anyMatch(QueueDefinitions::isMany)) {
			throw new QueueConfigurationException("Queue method " + name + " takes a batch of records, but no List.",
					"Take a List of payloads, of Messages or of ConsumerRecords; or one record.");
		}
		if (definition.takesBatch() && Arrays.asList(method.getParameterTypes()).contains(QueueContext.class)) {
			throw new QueueConfigurationException(
					"Queue method " + name + " takes a List and a QueueContext, which is that of a single record.",
					"Remove the QueueContext. A QueueBatchException names the records that failed, are to be rejected, "
							+ "or to be tried again later.");
		}
		if (definition.takesBatch()) {
			Arrays.stream(method.getParameters()).forEach((parameter) -> checkHeader(name, parameter));
		}
		if (Arrays.stream(method.getParameterTypes()).anyMatch(Consumer.class::isAssignableFrom)) {
			throw new QueueConfigurationException("Queue method " + name + " takes the Kafka consumer.",
					"Remove the parameter: handlers run beside the consumer's thread. Take a QueueContext or an "
							+ "Acknowledgment to settle the record.");
		}
		try {
			AnsweringHandlerMethodFactory.check(method);
		}
		catch (IllegalArgumentException ex) {
			throw new QueueConfigurationException("Queue method " + name + " " + ex.getMessage() + ".",
					"Change its return type.");
		}
	}

	/** It would be missing in each batch, and all records be dead-lettered for it. */
	private static void checkHeader(String method, Parameter parameter) {
		Header header = AnnotatedElementUtils.findMergedAnnotation(parameter, Header.class);
		if (header != null && header.required() && header.defaultValue().equals(ValueConstants.DEFAULT_NONE)
				&& !header.name().isEmpty() && !header.name().startsWith(KafkaHeaders.PREFIX)) {
			throw new QueueConfigurationException(
					"Queue method " + method + " takes a List and the header '" + header.name()
							+ "', which is that of a single record.",
					"Take a List of Messages or of ConsumerRecords, which have their headers.");
		}
	}

	private static boolean isMany(Class<?> type) {
		return List.class.equals(type) || Collection.class.equals(type) || Iterable.class.equals(type)
				|| type.getName().equals("org.apache.kafka.clients.consumer.ConsumerRecords");
	}

	@Nullable LaneHandler findLaneHandler(@Nullable String id) {
		return (id != null) ? this.laneHandlers.get(id) : null;
	}

	@Nullable QueueDefinition find(@Nullable String id) {
		return (id != null) ? this.definitions.get(id) : null;
	}

	/**
	 * Ids of the queues found.
	 * @return the ids
	 */
	public Collection<String> ids() {
		return List.copyOf(Objects.requireNonNull(this.definitions.keySet()));
	}

}
